/** The runs of the local server, which is started where it does not run. */
import { RunsClient } from '../node/runs/client';
import { findServer } from '../node/server/discovery';
import { ensureServer } from '../node/server/ensure';
import { productFolder } from './connect';
import type { Terminal } from './terminal';

export function runsClient({ say, signal }: Terminal): RunsClient {
  let asked = false;
  return new RunsClient(async () => {
    // The first time an idle server of an older version is replaced. After that whatever runs is asked; also after
    // the person wanted to stop, when none is started any more.
    const found = asked ? await findServer() : null;
    const server = found ?? (await ensureServer({ sourceDir: productFolder(), onProgress: say, signal }));
    asked = true;
    return server;
  });
}
