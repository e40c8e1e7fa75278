/** The engine as a child process: started, watched, started again with growing pauses when it dies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf, UserError } from '../../src/core/user-error';
import type { EngineState } from '../../src/node/server/discovery';
import { eachLine } from '../../src/node/server/process';

export interface EngineOptions {
  python: string;
  /** Folder that holds the package `rehearsal_engine`. */
  folder: string;
  /** `name=path`, the default first. */
  models: readonly string[];
  tokenFile: string;
  /** Further arguments, as they are. */
  more: readonly string[];
  log(text: string): void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** After this long without dying the pauses begin anew. */
const HEALTHY_MS = 60_000;
/** Deaths in a row before it is called failed; it is tried on all the same. */
const FAILED_AFTER = 3;
const GRACE_MS = 5000;
const POLL_MS = 100;

export class Engine {
  state: EngineState = 'starting';
  message = 'Starting the engine …';
  restarts = 0;
  /** Port of the engine while it is ready. */
  port: number | null = null;

  private child: ChildProcess | null = null;
  private failures = 0;
  private startedAt = 0;
  private timer: NodeJS.Timeout | null = null;
  private lastWords: string[] = [];
  /** Why it cannot run, in its own words: trying again soon would not help. */
  private refusal: string | null = null;

  constructor(private readonly options: EngineOptions) {}

  start(): void {
    const { python, folder, models, tokenFile, more } = this.options;
    const args = ['-m', 'rehearsal_engine', ...models.flatMap((model) => ['--model', model])];
    args.push('--host', '127.0.0.1', '--port', '0', '--token-file', tokenFile, '--exit-with-parent', ...more);
    this.startedAt = Date.now();
    this.lastWords = [];
    this.refusal = null;
    const child = spawn(python, args, {
      cwd: folder,
      // Standard input stays open for as long as we live: the engine ends with us, however we end.
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1' },
      windowsHide: true,
    });
    this.child = child;
    child.stdin?.on('error', () => {});
    eachLine(child, (line) => this.heard(line));
    child.once('error', (error) => this.died(child, `it cannot be run: ${error.message}`));
    child.once('close', (code, signal) => this.died(child, `it ended with ${signal ?? `code ${code}`}`));
  }

  /** Its port, as soon as it answers. Throws where it cannot be started, and where the signal is aborted. */
  async ready(signal: AbortSignal): Promise<number> {
    while (this.port === null) {
      signal.throwIfAborted();
      if (this.state === 'failed' || this.state === 'stopped')
        throw new UserError(
          `The engine does not run: ${reasonOf(this.message || 'it was stopped')}.`,
          "The server's log says more; resume the run once it runs.",
        );
      await sleep(POLL_MS);
    }
    return this.port;
  }

  async stop(): Promise<void> {
    this.state = 'stopped';
    this.port = null;
    if (this.timer) clearTimeout(this.timer);
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.kill('SIGTERM');
    const hard = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
    await gone;
    clearTimeout(hard);
  }

  private heard(line: string): void {
    const event = eventOf(line);
    if (event) this.told(event);
    else if (line.trim()) {
      this.options.log(line);
      if (this.lastWords.push(line.trim()) > 20) this.lastWords.shift();
    }
  }

  private told(event: { event: string; [field: string]: unknown }): void {
    this.options.log(JSON.stringify(event));
    if (event.event === 'ready' && typeof event.port === 'number') {
      this.port = event.port;
      this.state = 'ready';
      this.message = '';
    } else if (event.event === 'loading' && this.state !== 'ready') {
      this.message = typeof event.model === 'string' ? `Loading ${event.model} …` : 'Starting PyTorch …';
    } else if (event.event === 'error' && typeof event.message === 'string') {
      this.refusal = event.message;
    }
  }

  private died(child: ChildProcess, how: string): void {
    if (this.child !== child) return;
    this.child = null;
    this.port = null;
    if (this.state === 'stopped') return;
    this.failures = Date.now() - this.startedAt > HEALTHY_MS ? 1 : this.failures + 1;
    if (this.refusal !== null) this.failures = Math.max(this.failures, FAILED_AFTER);
    this.restarts++;
    const last = this.lastWords[this.lastWords.length - 1];
    this.message = this.refusal ?? (last ? `${how}: ${last}` : how);
    this.state = this.failures >= FAILED_AFTER ? 'failed' : 'restarting';
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** (this.failures - 1), LONGEST_PAUSE_MS);
    this.options.log(`the engine died: ${this.message}; again in ${pause} ms`);
    this.timer = setTimeout(() => this.start(), pause);
  }
}

function eventOf(line: string): { event: string } | null {
  if (!line.startsWith('{"event"')) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
