/** The button that helps: a command of the extension, by the id that its surface knows. */
export interface ErrorAction {
  title: string;
  id: string;
}

/**
 * An error that is shown to a person as it is: what happened and why in `message`, what to do next in `next`,
 * one sentence each. Anything else that is thrown is a defect and goes to the log with its stack.
 */
export class UserError extends Error {
  override readonly name = 'UserError';

  constructor(
    message: string,
    readonly next: string,
    readonly action?: ErrorAction,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** What was thrown, in full: with what to do next where that is known. */
export function errorText(thrown: unknown): string {
  if (thrown instanceof UserError) return `${thrown.message} ${thrown.next}`;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** What a page shows of an error: one text, and the button that helps. */
export function noticeOf({ message, next, action }: UserError): { message: string; action?: ErrorAction } {
  return { message: `${message} ${next}`, ...(action && { action }) };
}

/** What was thrown, as a part of a sentence that has a full stop of its own. */
export function reasonOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/[.\s]+$/, '');
}
