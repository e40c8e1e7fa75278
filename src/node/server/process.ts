/** Running a program and reading what it says. */
import { type ChildProcess, spawn } from 'node:child_process';
import readline from 'node:readline';

/** Runs to the end and collects standard output; a program that is not there gives code 127. */
export async function runQuietly(
  command: string,
  args: readonly string[],
): Promise<{ code: number; output: string }> {
  let output = '';
  const code = await runLines(command, args, (line) => {
    output += `${line}\n`;
  });
  return { code, output };
}

/** Runs to the end; each line of standard output and standard error is given to `onLine`. */
export function runLines(
  command: string,
  args: readonly string[],
  onLine: (line: string) => void,
  signal?: AbortSignal,
): Promise<number> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(130);
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    const stop = () => child.kill();
    signal?.addEventListener('abort', stop);
    eachLine(child, onLine);
    child.once('error', () => resolve(127));
    child.once('close', (code) => {
      signal?.removeEventListener('abort', stop);
      resolve(code ?? 1);
    });
  });
}

export function eachLine(child: ChildProcess, onLine: (line: string) => void): void {
  for (const input of [child.stdout, child.stderr]) {
    if (input) readline.createInterface({ input }).on('line', onLine);
  }
}
