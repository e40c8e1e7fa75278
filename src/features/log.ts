/** The *Rehearsal* output channel: details of what the interface says in one sentence. */
import * as vscode from 'vscode';
import { LOG_CHANNEL } from './ids';
import type { Log } from './services';

export function createLog(context: vscode.ExtensionContext): Log {
  const channel = vscode.window.createOutputChannel(LOG_CHANNEL, { log: true });
  context.subscriptions.push(channel);
  return {
    info: (message) => channel.info(message),
    warn: (message) => channel.warn(message),
    error: (message, cause) =>
      channel.error(cause === undefined ? message : `${message}\n${describe(cause)}`),
    show: () => channel.show(true),
  };
}

/** Stack and causes. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by: ${describe(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
