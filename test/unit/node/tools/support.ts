/** Executors for tests, closed after each. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Environment, ExecutorConfig } from '../../../../src/core/environment/types';
import {
  createExecutor,
  type Executor,
  type ExecutorOptions,
  type ToolSession,
} from '../../../../src/node/tools';
import { SHOP } from '../../support/shop';

export const ROOT = path.resolve(import.meta.dirname, '../../../..');
export const FIXTURES = path.join(ROOT, 'test/fixtures/tools');

const opened: Executor[] = [];

export function executorOf(
  config: ExecutorConfig,
  folder = FIXTURES,
  more: Partial<ExecutorOptions> & { tools?: Environment['tools'] } = {},
): Executor {
  const environment: Environment = { ...SHOP, tools: more.tools ?? [], executor: config };
  const executor = createExecutor({ environment, folder, ...more });
  opened.push(executor);
  return executor;
}

export async function closeExecutors(): Promise<void> {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
}

/** A folder that is gone after the test. */
export async function scratch(context: { after(f: () => unknown): void }): Promise<string> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rehearsal-tools-'));
  context.after(() => fs.rm(folder, { recursive: true, force: true }));
  return folder;
}

export const call = (session: ToolSession, tool: string, args: object = {}) =>
  session.execute({ tool, arguments: args as never });

/** Whether a process with this id is there. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Command lines of the processes that this one has started and that still run, without the server that tests share. */
export function children(): string[] {
  const listed = execFileSync('ps', ['-A', '-o', 'ppid=,args='], { encoding: 'utf8' });
  const own = listed.split('\n').filter((line) => Number(line.trim().split(' ')[0]) === process.pid);
  return own.filter((line) => !/ ps -A|esbuild|runner\.mjs/.test(line));
}

export async function until(holds: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('it did not come to hold');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
