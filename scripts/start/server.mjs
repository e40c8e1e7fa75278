/** The local server, by the product's own set-up: `rehearsal serve` makes the Python environment and starts it. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import readline from 'node:readline';
import { ROOT } from '../lib/process.mjs';

/**
 * Starts the server (or finds the one that runs) and waits until it answers.
 * `rehearsal serve --json` prints an object a line: `{"progress": text}` and at last `{"ready": {…}}`.
 */
export async function startServer(log) {
  const child = spawn(process.execPath, [path.join(ROOT, 'dist/cli.js'), 'serve', '--json'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of readline.createInterface({ input: child.stdout })) {
    const event = parse(line);
    if (event?.progress) log(event.progress);
    else if (event?.error) throw new Error(event.error);
    else if (event?.ready) return;
  }
  throw new Error('The server did not start; its log is named above.');
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
