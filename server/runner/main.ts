/**
 * The local server: one address for people, windows and terminals. Started by `ensureServer`
 * (`src/node/server`), it outlives whoever started it and runs until it is told to stop.
 */
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { type Discovery, PROTOCOL, readDiscovery } from '../../src/node/server/discovery';
import { homeAt, makeHome, tokenAt, writeAtomically } from '../../src/node/server/home';
import { Engine } from './engine';
import { Log } from './log';
import { Runs } from './runs/runs';
import { startService } from './service';
import { train } from './training/train';

const { values: options } = parseArgs({
  options: {
    home: { type: 'string' },
    python: { type: 'string' },
    /** Folder that holds the package `rehearsal_engine`. */
    engine: { type: 'string' },
    /** `name=path`, again for further models. */
    model: { type: 'string', multiple: true, default: [] },
    version: { type: 'string', default: '0' },
    build: { type: 'string', default: '' },
    /** A further argument of the engine, again for each. */
    'engine-arg': { type: 'string', multiple: true, default: [] },
    /** Writes the log to standard error too. */
    echo: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  if (!options.python || !options.engine || options.model.length === 0) {
    throw new Error(
      'usage: runner --home DIR --python EXE --engine DIR --model NAME=PATH… --version V --build B',
    );
  }
  const home = homeAt(options.home);
  makeHome(home);
  const log = new Log(home.log, options.echo);
  const token = tokenAt(home.token);
  const engineToken = tokenAt(home.engineToken);
  const engine = new Engine({
    python: options.python,
    folder: options.engine,
    models: options.model,
    tokenFile: home.engineToken,
    more: ['--checkpoints', home.runs, ...options['engine-arg']],
    log: (text) => log.write('engine', text),
  });

  const running = (text: string) => log.write('server', text);
  const address = async (signal: AbortSignal) => {
    const port = await engine.ready(signal);
    return { baseUrl: `http://127.0.0.1:${port}`, apiKey: engineToken };
  };
  const runs = new Runs({ root: home.runs, engine: address, train, log: running });

  let stopping = false;
  async function stop(why: string): Promise<void> {
    if (stopping) return;
    stopping = true;
    log.write('server', `stopping: ${why}`);
    service.close();
    await runs.close();
    await engine.stop();
    if (readDiscovery(home)?.pid === process.pid) fs.rmSync(home.discovery, { force: true });
    process.exit(0);
  }

  const service = await startService(
    {
      engine,
      token,
      engineToken,
      version: options.version,
      build: options.build,
      models: options.model.map((model) => model.slice(0, model.indexOf('='))),
      training: { runs, engine: address, log: running },
      onStop: () => void stop('told to'),
    },
    // Windows that were connected to the server before find this one at the same address.
    lastPort(home.port),
  );
  engine.start();
  runs.start();
  const discovery: Discovery = {
    url: `http://127.0.0.1:${service.port}`,
    pid: process.pid,
    version: options.version,
    build: options.build,
    protocol: PROTOCOL,
    tokenFile: home.token,
  };
  writeAtomically(home.port, String(service.port));
  writeAtomically(home.discovery, `${JSON.stringify(discovery, null, 2)}\n`, 0o600);
  log.write('server', `listening on ${discovery.url}, version ${options.version}, process ${process.pid}`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
  process.on('SIGHUP', () => {}); // the terminal that started it may close
  process.on('uncaughtException', (error) => log.write('server', `defect: ${error.stack ?? error}`));
  process.on('unhandledRejection', (error) =>
    log.write('server', `defect: ${error instanceof Error ? error.stack : error}`),
  );
}

function lastPort(file: string): number {
  try {
    const port = Number(fs.readFileSync(file, 'utf8'));
    return Number.isInteger(port) && port > 1023 && port < 65_536 ? port : 0;
  } catch {
    return 0;
  }
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
