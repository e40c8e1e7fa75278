/** The conversations that a comparison is about, for another model. */
import fs from 'node:fs';
import path from 'node:path';
import type { ComparisonRun } from '../../core/fidelity/comparison';
import type { State } from '../../core/rehearsal/types';
import { loadSession } from '../sessions/file';
import type { CompareRequest } from './request';

/** Where the tasks that were rehearsed for the comparison in `file` are kept: a folder of its own. */
export function conversationsFolder(file: string): string {
  return path.join(conversationsBeside(file), path.basename(file, '.jsonl'));
}

const conversationsBeside = (file: string) => path.join(path.dirname(file), '..', 'conversations');

/** Removes the conversations of comparisons whose files are gone, beside that in `file`. Never throws. */
export function forgetConversations(file: string): void {
  const folder = conversationsBeside(file);
  try {
    for (const id of fs.readdirSync(folder))
      if (!fs.existsSync(path.join(path.dirname(file), `${id}.jsonl`)))
        fs.rmSync(path.join(folder, id), { recursive: true, force: true });
  } catch {
    // There are none yet, or they stay until the next time.
  }
}

/**
 * By the id of their task. Throws `NodeError` where one cannot be read.
 * @param file of the comparison
 */
export function conversationsOf(
  file: string,
  request: CompareRequest,
  { conversations = {} }: ComparisonRun,
): Map<string, State> {
  const folder = conversationsFolder(file);
  const files =
    request.kind === 'session'
      ? [request.session]
      : Object.values(conversations).map((name) => path.join(folder, name));
  return new Map(
    files.map((one) => {
      const { tip } = loadSession(one).session;
      return [tip.state.setup.task.id, tip.state];
    }),
  );
}
