/** A program that runs for a tool: lines in, lines out, in a process group of its own, gone when it is closed. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { failures, type ToolFailureError } from './failures';

const SHOWN_STDERR = 2000;
const GRACE_MS = 300;
const DECODER = new TextDecoder('utf-8', { fatal: true });

export interface ProgramOptions {
  argv: readonly string[];
  cwd: string;
  /** Names of environment variables beside the usual ones. */
  env?: readonly string[];
  /** Longest line in bytes. */
  maxLine: number;
  onLine(text: string): void;
  /** It ended, or said what cannot be read. Called once. */
  onEnd(failure: ToolFailureError): void;
}

/** What any program needs, and no secret. */
const USUAL = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'TERM',
  'SystemRoot',
  'SystemDrive',
  'APPDATA',
  'LOCALAPPDATA',
  'USERPROFILE',
  'PATHEXT',
  'ComSpec',
  'ProgramFiles',
  'NUMBER_OF_PROCESSORS',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
];

const running = new Set<Program>();
let watching = false;

export class Program {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly gone: Promise<void>;
  private parts: Buffer[] = [];
  private length = 0;
  private ended = false;
  /** Last part of what it wrote to standard error. */
  stderr = '';

  constructor(private readonly options: ProgramOptions) {
    const [program, ...rest] = options.argv;
    this.child = spawn(program!, rest, {
      cwd: options.cwd,
      env: environmentFor(options.env ?? []),
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: 'pipe',
    });
    running.add(this);
    if (!watching) {
      process.on('exit', () => {
        for (const one of running) one.signalGroup('SIGKILL');
      });
    }
    watching = true;
    this.child.stdin.on('error', () => undefined); // a program that reads nothing says so by ending
    this.child.stdout.on('data', (chunk: Buffer) => this.read(chunk));
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.stderr = (this.stderr + chunk.toString('utf8')).slice(-SHOWN_STDERR);
    });
    this.gone = new Promise((resolve) => {
      this.child.once('error', (error: NodeJS.ErrnoException) => {
        this.end(
          failures.noStart(program!, error.code === 'ENOENT' ? 'there is no such program' : error.message),
        );
        running.delete(this);
        resolve();
      });
      this.child.once('exit', (code, signal) => {
        // What it left behind in its group goes with it.
        this.signalGroup('SIGKILL');
        running.delete(this);
        resolve();
        // Its last lines may still be on their way.
        setImmediate(() =>
          this.end(
            failures.crashed(signal ? `signal ${signal}` : `exit code ${code}`, lastLine(this.stderr)),
          ),
        );
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get alive(): boolean {
    return !this.ended;
  }

  send(line: string): void {
    if (!this.ended) this.child.stdin.write(`${line}\n`);
  }

  endInput(): void {
    this.child.stdin.end();
  }

  /** Ends its input, waits a moment, and kills what is left. */
  async close(): Promise<void> {
    this.ended = true;
    this.child.stdin.end();
    const timer = setTimeout(() => this.signalGroup('SIGKILL'), GRACE_MS);
    await this.gone;
    clearTimeout(timer);
  }

  async kill(): Promise<void> {
    this.ended = true;
    this.signalGroup('SIGKILL');
    await this.gone;
  }

  private read(chunk: Buffer): void {
    if (this.ended) return;
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      this.parts.push(chunk.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.parts);
      this.parts = [];
      this.length = 0;
      this.line(line);
    }
    this.parts.push(chunk.subarray(from));
    this.length += chunk.length - from;
    if (this.length > this.options.maxLine) {
      this.end(failures.tooLarge(this.options.maxLine));
      void this.kill();
    }
  }

  private line(bytes: Buffer): void {
    if (this.ended) return;
    let text: string;
    try {
      text = DECODER.decode(bytes);
    } catch {
      this.end(failures.notUtf8(bytes.toString('latin1').slice(0, 10_000)));
      void this.kill();
      return;
    }
    if (text.trim()) this.options.onLine(text.replace(/\r$/, ''));
  }

  private end(failure: ToolFailureError): void {
    if (this.ended) return;
    // A last line without a line end is a line.
    const rest = Buffer.concat(this.parts);
    this.parts = [];
    if (rest.length && failure.code === 'crashed') this.line(rest);
    this.ended = true;
    this.options.onEnd(failure);
  }

  private signalGroup(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    if (process.platform === 'win32') {
      spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true });
      return;
    }
    try {
      process.kill(-pid, signal);
    } catch {
      // Nothing of the group is left.
    }
  }
}

function environmentFor(names: readonly string[]): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const name of [...USUAL, ...names]) if (process.env[name] !== undefined) env[name] = process.env[name];
  return env;
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
