/** The model that decides `judge` checks of a run. */
import path from 'node:path';
import { createJudge, type Judge } from '../../../src/node/judge/judge';
import type { RunStore } from '../../../src/node/runs/store';
import type { Keys } from './keys';

/** What it said is kept in the run's folder: after a restart it is not asked again. */
export function judgeOf({ id, config, folder }: RunStore, keys: Keys): Judge | null {
  const { judge } = config.settings;
  if (!judge?.url || !judge.model) return null;
  const { url, model, keyVariable, timeoutSeconds } = judge;
  const apiKey = keyVariable && keys.get(id, keyVariable);
  const cacheFile = path.join(folder, 'judgements.jsonl');
  return createJudge({ url, model, timeoutSeconds, cacheFile, ...(apiKey ? { apiKey } : {}) });
}
