/** Completion, hover, outline, formatting, folding and selection of our two languages. */
import * as vscode from 'vscode';
import { toCompletion, toFoldingRange, toHover, toSelectionRange, toSymbol, toTextEdit } from './convert';
import type { JsonSupport, ParsedJson } from './json';

export class JsonDocuments {
  private readonly parsed = new WeakMap<vscode.TextDocument, { version: number; parsed: ParsedJson }>();

  constructor(readonly support: JsonSupport) {}

  /** Parsed once for each version of a document. */
  parse(document: vscode.TextDocument): ParsedJson {
    const known = this.parsed.get(document);
    if (known?.version === document.version) return known.parsed;
    const parsed = this.support.parse(document.uri.toString(), document.version, document.getText());
    this.parsed.set(document, { version: document.version, parsed });
    return parsed;
  }
}

export function registerProviders(language: string, documents: JsonDocuments): vscode.Disposable {
  const selector: vscode.DocumentSelector = { language };
  const { service } = documents.support;
  return vscode.Disposable.from(
    vscode.languages.registerCompletionItemProvider(
      selector,
      {
        async provideCompletionItems(document, position) {
          const { text, json } = documents.parse(document);
          const list = await service.doComplete(text, position, json);
          return list && new vscode.CompletionList(list.items.map(toCompletion), list.isIncomplete);
        },
      },
      '"',
      ':',
      ' ',
    ),
    vscode.languages.registerHoverProvider(selector, {
      async provideHover(document, position) {
        const { text, json } = documents.parse(document);
        const hover = await service.doHover(text, position, json);
        return hover && toHover(hover);
      },
    }),
    vscode.languages.registerDocumentSymbolProvider(selector, {
      provideDocumentSymbols(document) {
        const { text, json } = documents.parse(document);
        return service.findDocumentSymbols2(text, json).map(toSymbol);
      },
    }),
    vscode.languages.registerDocumentRangeFormattingEditProvider(selector, {
      provideDocumentRangeFormattingEdits(document, range, options) {
        const { text } = documents.parse(document);
        return service.format(text, range, { ...options, insertFinalNewline: false }).map(toTextEdit);
      },
    }),
    vscode.languages.registerFoldingRangeProvider(selector, {
      provideFoldingRanges(document) {
        return service.getFoldingRanges(documents.parse(document).text).map(toFoldingRange);
      },
    }),
    vscode.languages.registerSelectionRangeProvider(selector, {
      provideSelectionRanges(document, positions) {
        const { text, json } = documents.parse(document);
        return service.getSelectionRanges(text, [...positions], json).map(toSelectionRange);
      },
    }),
  );
}
