/**
 * What a person sees of an error: one message, what to do next, and the one button that helps. Everything that
 * is not a `UserError` is a defect: it goes to the log with its stack, and the message says so.
 */
import * as vscode from 'vscode';
import { reasonOf, UserError } from '../core/user-error';
import { Command } from './ids';
import type { Log } from './services';

/** Commands that buttons of errors run, by the ids that `UserError.action` uses. */
const ACTIONS: { [id: string]: string } = {
  showLog: Command.showLog,
  setUpServer: Command.setUpServer,
  startServer: Command.startServer,
  restartServer: Command.restartServer,
  selectModel: Command.selectModel,
  setServerToken: Command.setServerToken,
  manageTrust: 'workbench.trust.manage',
};

/** Authoring works in a workspace that is not trusted; nothing runs there, and no server is contacted. */
export function notTrusted(): UserError {
  return new UserError('This workspace is not trusted, so nothing runs.', 'Trust it to rehearse.', {
    title: 'Manage Workspace Trust',
    id: 'manageTrust',
  });
}

export class Errors {
  /** Messages on the screen: the same error of many rollouts is shown once. */
  private readonly shown = new Set<string>();

  constructor(private readonly log: Log) {}

  show(error: unknown): void {
    if (isCancellation(error)) return;
    const user = error instanceof UserError ? error : this.defect(error);
    if (error instanceof UserError) this.log.warn(`${user.message} ${user.next}`);
    const text = `${user.message} ${user.next}`;
    if (this.shown.has(text)) return;
    this.shown.add(text);
    const button = user.action?.title;
    void vscode.window.showErrorMessage(text, ...(button ? [button] : [])).then((pressed) => {
      this.shown.delete(text);
      if (pressed && user.action) void this.run(user.action.id);
    });
  }

  /** Runs the button of an error. An id is a key of `ACTIONS` or a command of this extension, nothing else. */
  async run(id: string): Promise<void> {
    const command = ACTIONS[id] ?? Object.values<string>(Command).find((known) => known === id);
    if (!command) return this.log.error(`No action is called ${id}.`);
    await vscode.commands.executeCommand(command);
  }

  private defect(error: unknown): UserError {
    this.log.error('Something went wrong inside Rehearsal Studio.', error);
    return new UserError(
      `Something went wrong inside Rehearsal Studio: ${reasonOf(error)}.`,
      'The log has the details.',
      {
        title: 'Show Log',
        id: 'showLog',
      },
    );
  }
}

/** A person who cancels knows it already. */
function isCancellation(error: unknown): boolean {
  if (error instanceof vscode.CancellationError) return true;
  return error instanceof Error && error.name === 'AbortError';
}
