/** `rehearsal serve`: the local server, set up, started and stopped. */
import { findServer } from '../node/server/discovery';
import { ensureServer, stopServer } from '../node/server/ensure';
import { homeAt } from '../node/server/home';
import { parse, UsageError } from './arguments';
import { productFolder } from './connect';
import { EXIT, type Terminal } from './terminal';

const OPTIONS = {
  json: { type: 'boolean' },
  stop: { type: 'boolean' },
  status: { type: 'boolean' },
  foreground: { type: 'boolean' },
  load: { type: 'string', multiple: true },
} as const;

export async function serve(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, OPTIONS);
  if (positionals.length > 0) throw new UsageError(`serve takes no ${positionals[0]}.`);
  const { page } = terminal;
  const home = homeAt();
  if (values.stop) {
    const stopped = await stopServer();
    if (values.json) terminal.json({ stopped });
    else page.print(stopped ? 'The server has stopped.' : 'No server runs.');
    return EXIT.ok;
  }
  if (values.status) {
    const found = await findServer();
    if (values.json) terminal.json(found ? { url: found.url, ...found.health } : { url: null });
    else
      page.print(
        found
          ? `${found.url}: ${found.health.engine.state}, ${found.health.models.join(', ')}`
          : 'No server runs.',
      );
    return found ? EXIT.ok : EXIT.failed;
  }
  const onProgress = (line: string) => (values.json ? terminal.json({ progress: line }) : terminal.say(line));
  const { foreground = false, load: models } = values;
  const {
    url,
    pid,
    models: names,
  } = await ensureServer({
    sourceDir: productFolder(),
    onProgress,
    signal: terminal.signal,
    foreground,
    models,
  });
  if (values.json)
    terminal.json({ ready: { url, pid, models: names, tokenFile: home.token, log: home.log } });
  else {
    page.print(`The server is ready at ${url} (models: ${names.join(', ')}).`);
    page.print(`Its bearer token is in ${home.token}; its log is ${home.log}.`);
  }
  if (foreground) await untilStopped(terminal.signal);
  return EXIT.ok;
}

/** Ctrl-C stops the server that was started here. */
async function untilStopped(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
    const timer = setInterval(async () => {
      if (await findServer()) return;
      clearInterval(timer);
      resolve();
    }, 2000);
    signal.addEventListener('abort', () => clearInterval(timer));
  });
  await stopServer();
}
