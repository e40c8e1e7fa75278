/** What came of a task, as VS Code shows it: a state, and a message at the line of each check that failed. */
import * as vscode from 'vscode';
import type { TaskItem } from './items';
import { type Attempt, outcomeOf, type TaskResult } from './results';

/** `contextValue` of messages that have a session to open; `when` clauses of package.json name it. */
const WITH_SESSION = 'rehearsal.attempt';

export interface SessionPlace {
  session: string;
  turn?: number;
}

export class Publisher {
  /** VS Code gives a command on a message only its text back: what it is about is looked up by that. */
  private readonly places = new Map<string, SessionPlace>();

  /** Shows a result in a run. */
  show(run: vscode.TestRun, task: TaskItem, result: TaskResult): void {
    const messages = result.attempts.flatMap((attempt, index) =>
      this.messages(task, attempt, result.attempts.length > 1 ? `Attempt ${index + 1}: ` : ''),
    );
    const { attempts } = result;
    const ms =
      (1000 * attempts.reduce((sum, { seconds }) => sum + seconds, 0)) / Math.max(1, attempts.length);
    const outcome = outcomeOf(result);
    if (outcome === 'passed') run.passed(task.item, ms);
    else run[outcome](task.item, messages, ms);
  }

  /** The session that a message of the Test Explorer is about. */
  placeOf(argument: unknown): SessionPlace | undefined {
    const { test, message } = (argument ?? {}) as { test?: vscode.TestItem; message?: vscode.TestMessage };
    if (!test || typeof message?.message !== 'string') return undefined;
    return this.places.get(keyOf(test, message.message));
  }

  private messages(task: TaskItem, attempt: Attempt, prefix: string): vscode.TestMessage[] {
    if (attempt.success === true) return [];
    const { item, loaded } = task;
    const failed = attempt.failed.map((check) => {
      const text = `${prefix}${check.title}: ${check.reason}`;
      const { expected, actual } = check;
      const message =
        expected !== undefined && actual !== undefined
          ? vscode.TestMessage.diff(text, expected, actual)
          : new vscode.TestMessage(text);
      message.location = loaded.check(task.task.id, check.index);
      this.remember(item, message, text, attempt.session, check.turn);
      return message;
    });
    if (attempt.success !== null) return failed;
    const text = `${prefix}Not scored: ${attempt.error ?? 'the rollout did not end'}`;
    const message = new vscode.TestMessage(text);
    message.location = loaded.task(task.task.id);
    this.remember(item, message, text, attempt.session);
    return [message, ...failed];
  }

  private remember(
    item: vscode.TestItem,
    message: vscode.TestMessage,
    text: string,
    session: string | undefined,
    turn?: number,
  ): void {
    if (!session) return;
    message.contextValue = WITH_SESSION;
    this.places.set(keyOf(item, text), { session, ...(turn !== undefined && { turn }) });
  }
}

function keyOf(item: vscode.TestItem, text: string): string {
  return `${item.id}\n\n${text}`;
}
