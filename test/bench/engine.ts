/** The engine alone, on a port of its own, for rows that speak to it as the runner does. */
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import readline from 'node:readline';
import type { Bench } from './row';

export interface BenchEngine {
  baseUrl: string;
  process: ChildProcess;
}

/** @param model `name=folder` */
export async function startEngine(bench: Bench, model: string, ...more: string[]): Promise<BenchEngine> {
  const args = ['-m', 'rehearsal_engine', '--model', model, '--device', 'cpu'];
  const engine = spawn(bench.python, [...args, '--exit-with-parent', ...more], {
    cwd: path.join(bench.root, 'server/engine'),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  return { baseUrl: `http://127.0.0.1:${await portOf(engine.stdout)}`, process: engine };
}

async function portOf(stdout: NodeJS.ReadableStream): Promise<number> {
  for await (const line of readline.createInterface({ input: stdout })) {
    const event = JSON.parse(line) as { event: string; port?: number };
    if (event.event === 'ready') return event.port!;
  }
  throw new Error('the engine ended before it was ready');
}
