/**
 * JSON with comments and trailing commas, checked by one of our own schemas. Knows nothing of VS Code, so that
 * the same answers can be tested in plain Node.
 */
import {
  ClientCapabilities,
  type Diagnostic,
  getLanguageService,
  type JSONDocument,
  type JSONSchema,
  type LanguageService,
  TextDocument,
} from 'vscode-json-languageservice';

export interface ParsedJson {
  text: TextDocument;
  json: JSONDocument;
}

export class JsonSupport {
  readonly service: LanguageService;

  /**
   * @param schema what files must be; null for plain JSON. A file's own `$schema` resolves to this one too:
   *   nothing is ever fetched, whatever address it names.
   */
  constructor(schema: JSONSchema | null) {
    const bundled = schema ?? {};
    this.service = getLanguageService({
      clientCapabilities: ClientCapabilities.LATEST,
      schemaRequestService: async () => JSON.stringify(bundled),
    });
    this.service.configure({
      validate: true,
      allowComments: true,
      schemas: [{ uri: 'rehearsal://schema', fileMatch: ['*'], schema: bundled }],
    });
  }

  parse(uri: string, version: number, content: string): ParsedJson {
    const text = TextDocument.create(uri, 'json', version, content);
    return { text, json: this.service.parseJSONDocument(text) };
  }

  async validate({ text, json }: ParsedJson): Promise<Diagnostic[]> {
    return this.service.doValidation(text, json, {
      comments: 'ignore',
      trailingCommas: 'ignore',
      schemaValidation: 'error',
      schemaRequest: 'ignore',
    });
  }
}
