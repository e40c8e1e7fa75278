/**
 * Every error that the world outside can cause, as something a person can act on: what happened and why, what
 * to do next, and where there is one the button that does it. Actions are ids of `features/errors.ts`.
 */
import { escaped } from '../core/text';
import { type ErrorAction, reasonOf, UserError } from '../core/user-error';
import { UnusableFile, whyOf } from './text-file';

export { UserError };

export type ErrorCode =
  | 'server-refused'
  | 'server-unauthorized'
  | 'server-hangs'
  | 'server-died'
  | 'server-error'
  | 'server-odd'
  | 'tier-unsupported'
  | 'score-unsupported'
  | 'model-unknown'
  | 'context-too-long'
  | 'template-refuses'
  | 'environment-unreadable'
  | 'environment-broken'
  | 'task-unknown'
  | 'session-unreadable'
  | 'session-unwritable'
  | 'comparison-unreadable'
  | 'comparison-unwritable'
  | 'python-missing'
  | 'setup-failed'
  | 'setup-incomplete'
  | 'server-start-failed'
  | 'server-busy'
  | 'training-broken'
  | 'run-unknown'
  | 'run-unreadable'
  | 'run-unwritable'
  | 'run-taken'
  | 'run-refused'
  | 'run-too-large'
  | 'run-state'
  | 'cancelled';

/** A `UserError` with a code, so that callers and `--json` can tell them apart. */
export class NodeError extends UserError {
  constructor(
    readonly code: ErrorCode,
    message: string,
    next: string,
    action?: ErrorAction,
    options?: { cause?: unknown },
  ) {
    super(message, next, action, options);
  }
}

/** A stream that ended before the output did; the tokens that came before were given already. */
export class StreamDiedError extends NodeError {}

const SHOW_LOG = { title: 'Show Log', id: 'showLog' };
const START_SERVER = { title: 'Start Server', id: 'startServer' };
export const SELECT_MODEL = { title: 'Select Model', id: 'selectModel' };
const SET_UP = { title: 'Set Up Server', id: 'setUpServer' };
const SET_TOKEN = { title: 'Set Token', id: 'setServerToken' };

/** First line of a reason, bounded and with what could hide or reorder it shown: it comes from outside. */
export function oneLine(text: string, most = 300): string {
  const line = text.trim().split(/\r?\n/, 1)[0] ?? '';
  const shown = escaped(line);
  return shown.length > most ? `${shown.slice(0, most - 1)}…` : shown;
}

/** Without the full stop that our sentences put there themselves. */
export const reason = (text: string) => reasonOf(oneLine(text));

/** The first of many, and how many more there are. */
function some(texts: readonly string[], between: string): string {
  const more = texts.length - MOST_TOLD;
  return `${texts.slice(0, MOST_TOLD).join(between)}${more > 0 ? `${between}and ${more} more` : ''}`;
}

const MOST_TOLD = 20;

export const errors = {
  refused: (url: string, cause?: unknown) =>
    new NodeError(
      'server-refused',
      `No server answers at ${url}.`,
      'Start it, or check the address.',
      START_SERVER,
      { cause },
    ),
  unauthorized: (url: string) =>
    new NodeError(
      'server-unauthorized',
      `The server at ${url} does not accept the token.`,
      'Give the token that this server expects.',
      SET_TOKEN,
    ),
  hangs: (url: string, ms: number) =>
    new NodeError(
      'server-hangs',
      `The server at ${url} has said nothing for ${Math.round(ms / 100) / 10} s.`,
      'It may be loading a model or be overloaded: look at its log, then try again.',
      SHOW_LOG,
    ),
  died: (url: string, tokens: number, cause?: unknown) =>
    new StreamDiedError(
      'server-died',
      `The server at ${url} ended the connection after ${tokens} token${tokens === 1 ? '' : 's'}, before the output was complete.`,
      'Nothing that came is lost: continue to sample on from there, once the server answers again.',
      SHOW_LOG,
      { cause },
    ),
  serverError: (url: string, status: number | undefined, text: string) =>
    new NodeError(
      'server-error',
      `The server at ${url} answered with an error${status ? ` (${status})` : ''}: ${reason(text)}.`,
      'Its log says more.',
      SHOW_LOG,
    ),
  unavailable: (url: string, text: string) =>
    new NodeError(
      'server-error',
      `The server at ${url} cannot answer now: ${reason(text)}.`,
      'Try again shortly.',
      SHOW_LOG,
    ),
  odd: (url: string, what: string) =>
    new NodeError(
      'server-odd',
      `${url} does not answer like a model server: ${reason(what)}.`,
      'Check the address.',
    ),
  tier: (url: string, missing: string) =>
    new NodeError(
      'tier-unsupported',
      `The server at ${url} cannot be stepped token by token: tier not supported yet, since ${reason(missing)}.`,
      'Use the embedded server, vLLM or llama.cpp.',
      SELECT_MODEL,
    ),
  noScore: (url: string) =>
    new NodeError(
      'score-unsupported',
      `The server at ${oneLine(url, 200)} cannot score: it gives no probabilities of a text that it did not write itself.`,
      'Use the embedded server or vLLM for that; everything else works here.',
      SELECT_MODEL,
    ),
  contextTooLong: (tokens: number | undefined, most: number | undefined) =>
    new NodeError(
      'context-too-long',
      `The conversation${tokens ? ` of ${tokens} tokens` : ''} is longer than the model's context${most ? ` of ${most}` : ''}.`,
      'Use fewer or shorter tools and recorded calls, or a model with a longer context.',
    ),
  template: (model: string, text: string) =>
    new NodeError(
      'template-refuses',
      `The chat template of ${oneLine(model, 100)} cannot write this conversation: ${reason(text)}.`,
      'Use a model whose template knows tools.',
      SELECT_MODEL,
    ),
  unreadable: (file: string, error: unknown) =>
    new NodeError(
      'environment-unreadable',
      `${file} cannot be read: ${reason(whyOf(error))}.`,
      error instanceof UnusableFile ? error.next : 'Check the path.',
    ),
  brokenEnvironment: (file: string, problems: readonly string[]) =>
    new NodeError(
      'environment-broken',
      `${file} cannot be used: ${problems.map(reason).join('; ')}.`,
      `Run \`rehearsal check ${file}\` for the places.`,
    ),
  brokenRecords: (file: string, places: readonly string[]) =>
    new NodeError(
      'environment-broken',
      `No recorded call of ${file} can be read: ${some(places.map(reason), '; ')}.`,
      'Correct these lines, or record the calls again.',
    ),
  noTask: (task: string, known: readonly string[]) =>
    new NodeError(
      'task-unknown',
      `There is no task ${oneLine(task, 100)}.`,
      known.length ? `There are: ${known.join(', ')}.` : 'The environment has no tasks; add one.',
    ),
  session: (file: string, why: string) =>
    new NodeError(
      'session-unreadable',
      `The session ${file} cannot be opened: ${reason(why)}.`,
      'The file is left as it is.',
    ),
  sessionUnwritable: (file: string, why: string) =>
    new NodeError(
      'session-unwritable',
      `The session cannot be saved to ${file}: ${reason(why)}.`,
      'Free space or check the rights of the folder; nothing is sampled until it can be saved.',
    ),
  sessionTaken: (file: string) =>
    new NodeError(
      'session-unwritable',
      `Another program has written to the session ${file} since it was opened here.`,
      'Open it again to go on from where that program left it; nothing is written here until then.',
    ),
  comparison: (file: string, why: string) =>
    new NodeError(
      'comparison-unreadable',
      `The comparison ${file} cannot be opened: ${reason(why)}.`,
      'The file is left as it is; compare again.',
    ),
  comparisonUnwritable: (file: string, why: string) =>
    new NodeError(
      'comparison-unwritable',
      `The comparison cannot be saved to ${file}: ${reason(why)}.`,
      'Free space or check the rights of the folder, and compare again.',
    ),
  noPython: (found: string) =>
    new NodeError(
      'python-missing',
      `The engine needs Python 3.11 or newer with venv (${found}).`,
      'Install one from python.org or your package manager, or name one in REHEARSAL_PYTHON.',
      SET_UP,
    ),
  setupFailed: (step: string, why: string) =>
    new NodeError(
      'setup-failed',
      `Setting the server up failed: ${step}: ${reason(why)}.`,
      'Try again: it goes on where it stopped.',
      SET_UP,
    ),
  incomplete: (missing: string) =>
    new NodeError(
      'setup-incomplete',
      `The server's files are not complete: ${missing} is missing.`,
      'Build the product (npm run build), or install it again.',
    ),
  startFailed: (why: string, log: string) =>
    new NodeError(
      'server-start-failed',
      `The server did not start: ${reason(why)}.`,
      `Its log is ${log}.`,
      SHOW_LOG,
    ),
  otherVersion: (version: string) =>
    new NodeError(
      'server-busy',
      `A server of version ${version}, which this version cannot talk to, is at work.`,
      'Stop it when its work is done (`rehearsal serve --stop`), then try again.',
      { title: 'Restart Server', id: 'restartServer' },
    ),
  cancelled: (what: string) =>
    new NodeError('cancelled', `${what} was cancelled.`, 'Start again when you like.'),
};
