/** Asks the person before a real tool runs: one question at a time, and none twice. */
import * as vscode from 'vscode';
import type { Environment } from '../../core/environment/types';
import { printable } from '../../core/text';
import type { ToolCall } from '../../node/tools';
import { type ConsentRequest, ConsentStore, type Gate, type Grant } from '../../node/tools/consent';
import { executorErrors } from '../../node/tools/failures';
import { notTrusted } from '../errors';
import { questionText } from './text';

const KEY = 'consents.v1';

const ALLOW = 'Allow';
const ALLOW_AND_TRUST = 'Allow, and Trust Its Read-Only Marks';

/** Grants in the storage of the extension: no workspace can bring its own. */
export function mementoStore(memento: vscode.Memento): ConsentStore {
  return new ConsentStore({
    async read() {
      const grants = memento.get<unknown>(KEY);
      return Array.isArray(grants) ? (grants as Grant[]).filter((one) => one?.identity) : [];
    },
    async write(grants) {
      await memento.update(KEY, grants);
    },
  });
}

export interface Subject {
  environment: Environment;
  /** Folder of the workspace that the consent is for. */
  workspace: string;
}

export class Consents {
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    readonly store: ConsentStore,
    /** Whether the person lets the word of any server count for which of its tools only read. */
    private readonly trustsMarks: () => boolean,
  ) {}

  /**
   * A gate for one purpose. What was refused is asked again only where `asksAgain`: a batch that was refused once
   * must not ask a hundred times.
   */
  gate(subject: Subject, asksAgain: boolean): Gate {
    const refused = new Set<string>();
    return async ({ identity, tools }, call) => {
      const key = JSON.stringify([identity.hash, tools.map(({ name }) => name)]);
      const isRefused = !asksAgain && refused.has(key);
      if (!isRefused && (await this.ask({ ...subject, identity, tools }, call))) return;
      refused.add(key);
      const what = call?.tool ?? tools[0]?.name ?? identity.what;
      throw executorErrors.refused(
        `Not executed: you did not allow ${printable(what)}.`,
        'Try again to be asked again.',
      );
    };
  }

  /** Whether these tools may run: asks where that is not known. Throws `UserError` in a workspace that is not trusted. */
  ask(request: Subject & Omit<ConsentRequest, 'workspace'>, call?: ToolCall): Promise<boolean> {
    const answer = this.turn.then(() => this.askNow(request, call));
    this.turn = answer.catch(() => undefined);
    return answer;
  }

  private async askNow(
    { environment, workspace, identity, tools: given }: Subject & Omit<ConsentRequest, 'workspace'>,
    call?: ToolCall,
  ): Promise<boolean> {
    if (!vscode.workspace.isTrusted) throw notTrusted();
    const trusts = this.trustsMarks();
    const tools = given.map((tool) => (trusts ? { ...tool, hinted: false } : tool));
    const request = { workspace, identity, tools };
    const missing = await this.store.missing(request);
    if (!missing.executor && missing.tools.length === 0) return true;
    const { message, detail } = questionText({
      environment: environment.name,
      identity,
      missing,
      ...(call && { call }),
    });
    const marked = tools.some(({ readOnly, hinted }) => readOnly && hinted);
    const buttons = marked ? [ALLOW, ALLOW_AND_TRUST] : [ALLOW];
    const pressed = await vscode.window.showWarningMessage(message, { modal: true, detail }, ...buttons);
    if (pressed === undefined) return false;
    const asked = tools.filter(({ name }) => missing.tools.includes(name));
    await this.store.grant({ ...request, tools: asked }, pressed === ALLOW_AND_TRUST);
    return true;
  }
}
