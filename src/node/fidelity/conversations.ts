/** The conversations that a comparison is about, for another model. */
import path from 'node:path';
import type { ComparisonRun } from '../../core/fidelity/comparison';
import type { State } from '../../core/rehearsal/types';
import { loadSession } from '../sessions/file';
import { conversationsFolder } from './file';
import type { CompareRequest } from './request';

/**
 * By the id of their task. Throws `NodeError` where one cannot be read.
 * @param file of the comparison
 */
export function conversationsOf(
  file: string,
  request: CompareRequest,
  { sessions = {} }: ComparisonRun,
): Map<string, State> {
  const folder = conversationsFolder(file);
  const files =
    request.kind === 'session'
      ? [request.session]
      : Object.values(sessions).map((name) => path.join(folder, name));
  return new Map(
    files.map((one) => {
      const { tip } = loadSession(one).session;
      return [tip.state.setup.task.id, tip.state];
    }),
  );
}
