/** A client of the debug adapter, as VS Code is one: sends requests, keeps every event and answer. */
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { transcriptDocument } from '../../../../src/core/rehearsal/document';
import { sessionView } from '../../../../src/core/rehearsal/view';
import { RehearsalDebugSession } from '../../../../src/features/debug/adapter';
import type { LaunchArguments } from '../../../../src/features/debug/host';
import type { LiveSession } from '../../../../src/features/session/live';

export const TRANSCRIPT = 'rehearsal-transcript:/1/cancel-W42.rehearsal-log';
export const FILE = '/examples/shop.rehearsal.json';

type Message = P.Event | P.Response;

export class Client {
  readonly messages: Message[] = [];
  readonly errors: unknown[] = [];
  readonly adapter: RehearsalDebugSession;
  left = false;
  private seq = 0;
  private seen = 0;
  private wake = () => {};

  constructor(live: LiveSession | (() => Promise<LiveSession>)) {
    this.adapter = new RehearsalDebugSession({
      open: async () => (typeof live === 'function' ? live() : live),
      showError: (error) => this.errors.push(error),
      lines: async () => ({
        tools: new Map([
          ['get_order', 10],
          ['cancel_order', 20],
        ]),
        tasks: new Map([['cancel W42', 30]]),
      }),
      transcript: {
        path: () => TRANSCRIPT,
        document: ({ session }) => transcriptDocument(sessionView(session)),
        synced: async () => {},
      },
      followed: () => {},
      showTop: async () => true,
      left: () => {
        this.left = true;
      },
    });
    this.adapter.onDidSendMessage((message) => {
      this.messages.push(structuredClone(message) as Message);
      this.wake();
    });
  }

  /** The answer's body. Rejects with the text that the client would show. */
  async request<B = Record<string, never>>(command: string, args: object = {}): Promise<B> {
    const seq = ++this.seq;
    this.adapter.handleMessage({ seq, type: 'request', command, arguments: args } as P.Request);
    const isAnswer = (message: Message) =>
      message.type === 'response' && (message as P.Response).request_seq === seq;
    await this.until(() => this.messages.some(isAnswer));
    const answer = this.messages.find(isAnswer) as P.Response;
    if (!answer.success) throw new Error(answer.message);
    return answer.body as B;
  }

  /** The next event of this kind after those already taken. */
  async event<E extends P.Event>(event: string): Promise<E['body']> {
    const find = () =>
      this.messages.findIndex(
        (message, i) => i >= this.seen && message.type === 'event' && (message as P.Event).event === event,
      );
    await this.until(() => find() >= 0);
    const at = find();
    this.seen = at + 1;
    return (this.messages[at] as E).body;
  }

  /** Steps and waits for the stop. */
  async step(command: string): Promise<P.StoppedEvent['body']> {
    await this.request(command, { threadId: 1 });
    return this.event<P.StoppedEvent>('stopped');
  }

  async launch(
    args: Partial<LaunchArguments> = {},
    set: { tools?: string[]; filters?: string[]; options?: P.ExceptionFilterOptions[] } = {},
  ): Promise<void> {
    await this.request('initialize', {
      adapterID: 'rehearsal',
      pathFormat: 'path',
      linesStartAt1: true,
      columnsStartAt1: true,
    });
    await this.request('launch', { program: FILE, task: 'cancel W42', ...args });
    await this.event('initialized');
    if (set.tools)
      await this.request('setFunctionBreakpoints', { breakpoints: set.tools.map((name) => ({ name })) });
    await this.request('setExceptionBreakpoints', {
      filters: set.filters ?? [],
      filterOptions: set.options ?? [],
    });
    await this.request('configurationDone');
  }

  async stack(): Promise<P.StackFrame[]> {
    const { stackFrames } = await this.request<P.StackTraceResponse['body']>('stackTrace', { threadId: 1 });
    return stackFrames;
  }

  /** Rows of a scope of a frame, as `name: value`. */
  async scope(name: string, frameId = 1): Promise<P.Variable[]> {
    const { scopes } = await this.request<P.ScopesResponse['body']>('scopes', { frameId });
    const scope = scopes.find((one) => one.name === name);
    if (!scope) throw new Error(`no scope ${name} among ${scopes.map((one) => one.name)}`);
    return this.variables(scope.variablesReference);
  }

  async variables(variablesReference: number): Promise<P.Variable[]> {
    return (await this.request<P.VariablesResponse['body']>('variables', { variablesReference })).variables;
  }

  evaluate(expression: string, context: string): Promise<P.EvaluateResponse['body']> {
    return this.request('evaluate', { expression, context, frameId: 1 });
  }

  private async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((ok) => {
        this.wake = ok;
      });
    }
  }
}
