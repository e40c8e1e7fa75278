/** The runner of the fault tests, in a process of its own that can be killed: `child.ts HOME RUN`. */
import fs from 'node:fs';
import path from 'node:path';
import { train } from '../../server/runner/training/train';
import { RunStore } from '../../src/node/runs/store';
import { liveEngine, phaseFile } from '../unit/support/tiny-run';

const [home, id] = process.argv.slice(2) as [string, string];
const store = RunStore.open(path.join(home, 'runs'), id);
// The store keeps no phases: they are over in a moment.
store.events.on('status', ({ phase }) => fs.writeFileSync(phaseFile(home), phase));
await train({
  store,
  signal: new AbortController().signal,
  ports: {
    engine: (signal) => liveEngine(home, signal),
    executor: null,
    now: () => new Date().toISOString(),
    log: (text) => console.log(text),
  },
});
await store.close();
