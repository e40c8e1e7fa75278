/** The runs of the local server, which is started where it does not run. */
import { RunsClient } from '../node/runs/client';
import { findServer } from '../node/server/discovery';
import { ensureServer } from '../node/server/ensure';
import { productFolder } from './connect';
import type { Terminal } from './terminal';

export function runsClient({ say, signal }: Terminal): RunsClient {
  return new RunsClient(async () => {
    // After the person has asked to stop, the server that runs is told so; none is started for that.
    const found = await findServer();
    if (found) return found;
    return ensureServer({ sourceDir: productFolder(), onProgress: say, signal });
  });
}
