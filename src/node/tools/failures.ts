/** How an executor can fail, as what a person reads at the call. */
import { UserError } from '../../core/user-error';
import { oneLine } from '../errors';

export type ToolFailureCode =
  | 'timeout'
  | 'crashed'
  | 'memory'
  | 'too-large'
  | 'not-json'
  | 'not-utf8'
  | 'no-tool'
  | 'no-start'
  | 'unreachable'
  | 'redirected'
  | 'rate-limited'
  | 'bad-arguments'
  | 'no-record'
  | 'refused'
  | 'cancelled';

export interface ToolFailure {
  code: ToolFailureCode;
  message: string;
}

/** Thrown inside executors; `runCall` makes an execution of it. */
export class ToolFailureError extends Error {
  constructor(
    readonly code: ToolFailureCode,
    message: string,
    /** What came before it failed. */
    readonly raw?: string,
  ) {
    super(message);
  }
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
const bytes = (n: number) => (n >= 2 ** 20 ? `${Math.round(n / 2 ** 20)} MB` : `${n} bytes`);

export const failures = {
  timeout: (ms: number) =>
    new ToolFailureError('timeout', `It has not answered within ${seconds(ms)} and was stopped.`),
  crashed: (what: string, said = '') =>
    new ToolFailureError(
      'crashed',
      `It ended before it answered (${what})${said ? `: ${oneLine(said)}` : ''}.`,
    ),
  memory: (limit: number) =>
    new ToolFailureError('memory', `It needed more than ${limit} MB of memory and was stopped.`),
  tooLarge: (limit: number) =>
    new ToolFailureError('too-large', `Its answer is larger than ${bytes(limit)}.`),
  notJson: (why: string, raw?: string) =>
    new ToolFailureError('not-json', `Its answer is ${oneLine(why)}.`, raw),
  notUtf8: (raw?: string) => new ToolFailureError('not-utf8', 'Its answer is not UTF-8 text.', raw),
  noTool: (tool: string, known: readonly string[]) =>
    new ToolFailureError(
      'no-tool',
      `It has no tool ${JSON.stringify(oneLine(tool, 100))}; it has: ${known.join(', ') || 'none'}.`,
    ),
  noStart: (what: string, why: string) =>
    new ToolFailureError('no-start', `${oneLine(what)} does not start: ${oneLine(why)}.`),
  unreachable: (url: string, why: string) =>
    new ToolFailureError('unreachable', `No answer from ${url}: ${oneLine(why)}.`),
  redirected: (from: string, to: string) =>
    new ToolFailureError(
      'redirected',
      `${from} redirects to ${oneLine(to)}, which is another host and is not followed.`,
    ),
  rateLimited: (url: string, after: number | null) =>
    new ToolFailureError(
      'rate-limited',
      `${url} asks to call less often${after === null ? '' : ` (again after ${seconds(after)})`}.`,
    ),
  arguments: (why: string) =>
    new ToolFailureError('bad-arguments', `The call cannot be made: ${oneLine(why)}.`),
  cancelled: () => new ToolFailureError('cancelled', 'It was cancelled.'),
};

/** What is wrong with an executor before any call: shown as it is. */
export class ExecutorError extends UserError {
  constructor(
    readonly code: 'executor-missing' | 'executor-broken' | 'executor-elsewhere' | 'executor-refused',
    message: string,
    next: string,
    options?: { cause?: unknown },
  ) {
    super(message, next, undefined, options);
  }
}

export const executorErrors = {
  none: (environment: string) =>
    new ExecutorError(
      'executor-missing',
      `The environment ${oneLine(environment, 100)} names no executor.`,
      'Add "executor" to it.',
    ),
  broken: (why: string) =>
    new ExecutorError(
      'executor-broken',
      `The executor cannot be used: ${oneLine(why)}.`,
      'Correct it in the environment file.',
    ),
  vscode: () =>
    new ExecutorError(
      'executor-elsewhere',
      'The executor `vscode` calls tools of VS Code, which exist only there.',
      'Run it inside VS Code, or use another kind of executor.',
    ),
  refused: (message: string, next: string) => new ExecutorError('executor-refused', message, next),
};
