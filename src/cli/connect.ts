/** The model of a command: at the address given, or on the local server, which is started where it is needed. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Policy } from '../core/policy';
import { connectPolicy } from '../node/policies/connect';
import { ensureServer } from '../node/server/ensure';
import { UsageError } from './arguments';

export interface ModelArguments {
  server?: string;
  'token-env'?: string;
  model?: string;
}

export async function connect(
  given: ModelArguments,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<Policy> {
  const { server, model } = given;
  const token = tokenFrom(given['token-env']);
  const wanted = { model, onNote: say };
  if (server)
    return connectPolicy({ ...wanted, baseUrl: addressOf('server', server), apiKey: token }, signal);
  const local = await ensureServer({ sourceDir: productFolder(), onProgress: say, signal });
  return connectPolicy({ ...wanted, baseUrl: local.url, apiKey: local.token }, signal);
}

/** Folder that holds the server's files: above this program, bundled or not. */
export function productFolder(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!fs.existsSync(path.join(folder, 'server/engine/pyproject.toml'))) {
    const above = path.dirname(folder);
    if (above === folder) break;
    folder = above;
  }
  return folder;
}

/** Keys are named, never written on the command line, where other users and histories see them. */
export function tokenFrom(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const token = process.env[name];
  if (!token) throw new UsageError(`The environment variable ${name} is not set.`);
  return token;
}

export function addressOf(option: string, text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(`--${option} must be an http address, not ${text}.`);
  }
  // It would be shown in messages, and stands in the shell's history already.
  const { username, password } = new URL(text);
  if (username || password)
    throw new UsageError(`--${option} must hold no user or password: name the key's variable instead.`);
  return text;
}
