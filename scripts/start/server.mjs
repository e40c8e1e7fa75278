/** The local server, by the product's own set-up: `rehearsal serve` makes the Python environment and starts it. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import readline from 'node:readline';
import { ROOT } from '../lib/process.mjs';

/**
 * Starts the server, or finds the one that runs, and waits until it answers. `rehearsal serve --json` prints an
 * object a line: `progress` while it goes on, and at last `ready` or `error` with what to do `next`.
 */
export async function startServer(log) {
  const child = spawn(process.execPath, [path.join(ROOT, 'dist/cli.js'), 'serve', '--json'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let words = '';
  child.stderr.on('data', (data) => {
    words = (words + data).slice(-2000);
  });
  let ready = false;
  let problem = '';
  for await (const line of readline.createInterface({ input: child.stdout })) {
    const event = parse(line);
    if (event?.progress) log(event.progress);
    else if (event?.error) problem = [event.error, event.next].filter(Boolean).join('\n');
    else if (event?.ready) {
      ready = true;
      log(`the server is ready at ${event.ready.url} with ${event.ready.models.join(', ')}`);
    }
  }
  if (!ready) throw new Error(problem || `The server did not start.\n${words}`);
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
