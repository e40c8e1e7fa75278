/** The child process of a tool module, shared by all of its sessions. Started when first needed. */
import { type ChildProcess, fork } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../../core/json';
import { failures, type ToolFailureError } from '../failures';

/** Memory of the process beyond the heaps of its workers, in MB. */
const SPARE_MB = 512;

export interface HostAnswer {
  text?: string;
  error?: string;
  bad?: string;
  unknown?: string[];
  printed?: string;
}

type Message =
  | ({ t: 'answer'; s: number; id: number } & HostAnswer)
  | { t: 'opened'; s: number; tools: string[] }
  | { t: 'ended'; s: number; why: 'memory' | 'error' | 'exit'; message: string }
  | { t: 'memory' };

/** One session's side of the connection. */
interface Listener {
  opened(tools: string[]): void;
  answer(id: number, answer: HostAnswer): void;
  ended(failure: ToolFailureError): void;
}

export class ModuleHost {
  private child: ChildProcess | null = null;
  private readonly sessions = new Map<number, Listener>();
  /** Sessions that wait for somebody to use them: they keep nobody alive. */
  private readonly resting = new Set<number>();
  private last = 0;

  constructor(
    /** Folder that the module may read. */
    private readonly folder: string,
    private readonly memoryMB: number,
  ) {}

  /** Opens a session and gives the number by which it is known. */
  open(file: string, state: Json, listener: Listener): number {
    const s = ++this.last;
    this.sessions.set(s, listener);
    this.send({ t: 'open', s, file, state: JSON.stringify(state), heapMB: this.memoryMB });
    return s;
  }

  call(s: number, id: number, tool: string, args: Json): void {
    this.send({ t: 'call', s, id, tool, args: JSON.stringify(args) });
  }

  state(s: number, id: number): void {
    this.send({ t: 'state', s, id });
  }

  /** Nobody uses this session for now. */
  rest(s: number): void {
    if (this.sessions.has(s)) this.resting.add(s);
    this.letGo();
  }

  wake(s: number): void {
    this.resting.delete(s);
  }

  close(s: number): void {
    this.resting.delete(s);
    if (!this.sessions.delete(s)) return;
    if (this.child) this.send({ t: 'close', s });
    this.letGo();
  }

  /** An idle host must not keep a program from its end. */
  private letGo(): void {
    if (this.sessions.size === this.resting.size) hold(this.child, false);
  }

  async end(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    // Idle, it keeps nobody alive: without this, a program with nothing else to do would end in the middle of this wait.
    hold(child, true);
    this.drop(failures.cancelled());
    await gone;
  }

  /** Ends the process; what comes next starts another one. */
  private drop(failure: ToolFailureError): void {
    const { child } = this;
    this.child = null;
    child?.kill('SIGKILL');
    this.lost(failure);
  }

  private send(message: object): void {
    this.child ??= this.start();
    hold(this.child, true);
    this.child.send(message, (error) => {
      if (error) this.lost(failures.crashed('its process is gone'));
    });
  }

  private start(): ChildProcess {
    const { file, folder } = hostFile();
    const child = fork(file, [String(this.memoryMB + SPARE_MB)], {
      cwd: this.folder,
      env: { ...(process.versions.electron ? { ELECTRON_RUN_AS_NODE: '1' } : {}) },
      execArgv: containment([this.folder, folder]),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('message', (message) => this.receive(message as Message));
    child.on('error', (error) => this.lost(failures.noStart('The process of the tools', error.message)));
    child.on('exit', (code, signal) => {
      if (this.child !== child) return;
      this.child = null;
      this.lost(failures.crashed(signal ? `signal ${signal}` : `exit code ${code}`));
    });
    return child;
  }

  private receive(message: Message): void {
    if (message.t === 'memory') {
      this.drop(failures.memory(this.memoryMB + SPARE_MB));
      return;
    }
    const listener = this.sessions.get(message.s);
    if (!listener) return;
    if (message.t === 'opened') listener.opened(message.tools);
    else if (message.t === 'answer') listener.answer(message.id, message);
    else {
      this.sessions.delete(message.s);
      this.resting.delete(message.s);
      const memory = message.why === 'memory';
      listener.ended(
        memory ? failures.memory(this.memoryMB) : failures.crashed(message.why, message.message),
      );
    }
  }

  /** All sessions of this process are gone; each starts anew in another one. */
  private lost(failure: ToolFailureError): void {
    const open = [...this.sessions.values()];
    this.sessions.clear();
    this.resting.clear();
    for (const listener of open) listener.ended(failure);
  }
}

/** Whether a child keeps this process alive. */
function hold(child: ChildProcess | null, on: boolean): void {
  if (on) child?.ref();
  else child?.unref();
  if (on) child?.channel?.ref();
  else child?.channel?.unref();
}

/** Beside this file in a checkout, in `tool-host` beside the bundle else. */
function hostFile(): { file: string; folder: string } {
  const here = typeof __dirname === 'string' ? __dirname : path.dirname(fileURLToPath(import.meta.url));
  const folder = [here, path.join(here, 'tool-host')].find((at) => fs.existsSync(path.join(at, 'host.mjs')));
  if (!folder)
    throw failures.noStart('The process of the tools', 'its files are missing; build the product again');
  return { file: path.join(folder, 'host.mjs'), folder };
}

/**
 * Node's permission model: no writing, no other programs, and reading only where the module is and where its
 * packages may be. The network is not contained. VS Code's own Node does not have it.
 */
function containment(folders: readonly string[]): string[] {
  const flag = permissionFlag();
  if (!flag) return [];
  const readable = folders.flatMap((folder) => {
    const real = fs.realpathSync(folder);
    return [path.join(real, '/'), path.join(folder, '/'), ...packagesAbove(real)];
  });
  return [
    flag,
    '--allow-worker',
    '--no-warnings',
    ...[...new Set(readable)].map((at) => `--allow-fs-read=${at}`),
  ];
}

function permissionFlag(versions: NodeJS.ProcessVersions = process.versions): string | null {
  if (versions.electron) return null;
  const [major = 0, minor = 0] = versions.node.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 5) ? '--permission' : '--experimental-permission';
}

/** Where Node looks for packages and their types of module. */
function packagesAbove(folder: string): string[] {
  const above: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    for (const name of ['node_modules/', 'package.json']) {
      const found = path.join(at, name);
      if (fs.existsSync(found)) above.push(found);
    }
    if (at === path.dirname(at)) return above;
  }
}
