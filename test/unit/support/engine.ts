/** The engine alone, as the runner starts it, for tests that speak to it directly or kill it. */
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import readline from 'node:readline';
import { PYTHON, ROOT } from './server';

export interface StartedEngine {
  baseUrl: string;
  process: ChildProcess;
  /** POSTs JSON and gives what is answered; throws where the status is not 200. */
  post<T>(route: string, body: unknown): Promise<T>;
  get<T>(route: string): Promise<T>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
}

export async function startEngine(models: Record<string, string>, ...more: string[]): Promise<StartedEngine> {
  const named = Object.entries(models).flatMap(([name, folder]) => ['--model', `${name}=${folder}`]);
  const args = ['-m', 'rehearsal_engine', ...named, '--device', 'cpu', '--port', '0', '--exit-with-parent'];
  const child = spawn(PYTHON, [...args, ...more], {
    cwd: path.join(ROOT, 'server/engine'),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const baseUrl = `http://127.0.0.1:${await portOf(child)}`;
  const read = async (response: Response) => {
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as never;
  };
  return {
    baseUrl,
    process: child,
    post: async (route, body) =>
      read(
        await fetch(baseUrl + route, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      ),
    get: async (route) => read(await fetch(baseUrl + route)),
    kill: () =>
      new Promise<void>((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once('close', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

async function portOf(child: ChildProcess): Promise<number> {
  for await (const line of readline.createInterface({ input: child.stdout! })) {
    const event = JSON.parse(line) as { event: string; port?: number; message?: string };
    if (event.event === 'ready') return event.port!;
    if (event.event === 'error') throw new Error(event.message);
  }
  throw new Error('the engine ended before it was ready');
}
