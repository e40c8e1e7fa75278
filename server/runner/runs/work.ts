/** The work on one run: its real tools and its judge are there while it trains, and put away whatever comes of it. */
import type { RunStore } from '../../../src/node/runs/store';
import type { TrainingPorts } from '../training/run';
import { judgeOf } from './judge';
import type { Keys } from './keys';
import { realTools } from './real-tools';
import type { RunsOptions } from './runs';

export async function workOn(
  store: RunStore,
  keys: Keys,
  signal: AbortSignal,
  { engine, train, log, branched }: RunsOptions & Pick<TrainingPorts, 'branched'>,
): Promise<void> {
  const { id } = store;
  const now = () => new Date().toISOString();
  store.setStatus({ state: 'starting', message: '', started: store.status.started ?? now() });
  const key = async (name: string) => keys.get(id, name);
  const tools = await realTools(store.config, key, (message) => {
    const { step, warnings } = store.status;
    store.setStatus({ warnings: [...warnings, { step, code: 'task-changed', message }] });
  });
  if (tools.why) log(`run ${id}: nothing real runs: ${tools.why}`);
  try {
    const judge = judgeOf(store, keys);
    const ports = { engine, key, branched, ...tools.ports, log, ...(judge ? { judge } : {}), now };
    await train({ store, ports, signal });
  } finally {
    await tools.ports.executor?.close();
  }
}
