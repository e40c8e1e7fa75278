/** From what an executor does to one execution: time limit, outcome, raw output, failures. */
import { isErrorValue } from '../../core/conversation/result';
import type { Json } from '../../core/json';
import { parseStrict } from '../../core/json-text';
import { failures, ToolFailureError } from './failures';
import type { Execution } from './types';

/** Answers beyond this are refused: nothing that a model could read is as long. */
export const MAX_ANSWER_BYTES = 64 * 2 ** 20;
export const DEFAULT_TIMEOUT_MS = 30_000;

export type Answered = Omit<Execution, 'durationMs' | 'failure'>;

/** An answer as the value that its text is: JSON, or the text itself. */
export function valueOfText(text: string): Json {
  const parsed = parseStrict(text);
  return parsed.ok ? parsed.value : text;
}

/** A tool's own answer; a value with `error` is an error whatever the tool says. */
export function answered(
  value: Json,
  more: { error?: boolean; raw?: string; notes?: string[] } = {},
): Answered {
  return {
    outcome: more.error || isErrorValue(value) ? 'error' : 'result',
    value,
    ...(more.raw === undefined ? {} : { raw: more.raw }),
    ...(more.notes?.length ? { notes: more.notes } : {}),
  };
}

/**
 * Runs one call. `stop` is called where it takes too long or is cancelled; the executor then ends what it started.
 * Never rejects.
 */
export async function runCall(
  work: () => Promise<Answered>,
  limits: { timeoutMs: number; signal?: AbortSignal; stop(): void | Promise<void> },
): Promise<Execution> {
  const started = performance.now();
  const { timeoutMs, signal } = limits;
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  try {
    if (signal?.aborted) throw failures.cancelled();
    const interrupted = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(failures.timeout(timeoutMs)), timeoutMs);
      onAbort = () => reject(failures.cancelled());
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    const done = work();
    done.catch(() => undefined); // its failure after an interruption is of no interest
    const answer = await Promise.race([done, interrupted]);
    return { ...answer, durationMs: performance.now() - started };
  } catch (error) {
    const known = error instanceof ToolFailureError;
    if (known && (error.code === 'timeout' || error.code === 'cancelled')) await limits.stop();
    const failure = known
      ? { code: error.code, message: error.message }
      : { code: 'crashed' as const, message: `It failed: ${(error as Error).message}` };
    return {
      outcome: 'error',
      value: { error: failure.message },
      durationMs: performance.now() - started,
      failure,
      ...(known && error.raw !== undefined ? { raw: error.raw } : {}),
    };
  } finally {
    clearTimeout(timer);
    if (onAbort) signal?.removeEventListener('abort', onAbort);
  }
}
