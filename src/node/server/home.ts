/**
 * The folder of the local server, one for each user: `~/.rehearsal-studio`, or what REHEARSAL_HOME says.
 * Windows, terminals and the server itself meet here. Layout: `docs/server.md`.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export interface Home {
  root: string;
  /** Versioned copies of the server's files. */
  servers: string;
  /** Virtual environments, one for each set of pinned packages. */
  pythons: string;
  /** Training runs, a folder each. */
  runs: string;
  /** What runs: address, tokens, logs. */
  run: string;
  discovery: string;
  /** Port of the last server: the next one takes it where it is free. */
  port: string;
  /** Bearer token of people and windows. */
  token: string;
  /** Bearer token between runner and engine. */
  engineToken: string;
  log: string;
  /** What a server says before its log is open. */
  startLog: string;
  lock: string;
}

export function homeAt(root?: string): Home {
  const at = path.resolve(root || process.env.REHEARSAL_HOME || path.join(os.homedir(), '.rehearsal-studio'));
  const run = path.join(at, 'run');
  return {
    root: at,
    servers: path.join(at, 'server'),
    pythons: path.join(at, 'python'),
    runs: path.join(at, 'runs'),
    run,
    discovery: path.join(run, 'discovery.json'),
    port: path.join(run, 'port'),
    token: path.join(run, 'token'),
    engineToken: path.join(run, 'engine-token'),
    log: path.join(run, 'server.log'),
    startLog: path.join(run, 'start.log'),
    lock: path.join(run, 'lock'),
  };
}

export function makeHome(home: Home): void {
  for (const folder of [home.servers, home.pythons]) fs.mkdirSync(folder, { recursive: true });
  fs.mkdirSync(home.run, { recursive: true, mode: 0o700 });
}

/** The token in a file that only this user may read; made where it is missing, and kept from then on. */
export function tokenAt(file: string): string {
  const known = readToken(file);
  if (known) return known;
  const token = randomBytes(32).toString('base64url');
  writeAtomically(file, `${token}\n`, 0o600);
  return token;
}

export function readToken(file: string): string | null {
  try {
    const { mode } = fs.statSync(file);
    if (process.platform !== 'win32' && mode & 0o077) fs.chmodSync(file, 0o600);
    return fs.readFileSync(file, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/** Whoever reads the file sees the old content or the new one, never a part. */
export function writeAtomically(file: string, text: string, mode = 0o644): void {
  const temporary = `${file}.${process.pid}.new`;
  fs.writeFileSync(temporary, text, { mode });
  fs.renameSync(temporary, file);
}
