// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written so in the environment file
/** A folder of its own for every session: a copy that goes away with it, under one name in all calls and answers. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Json } from '../../core/json';
import { fileBeside } from './places';

export interface WorkspaceConfig {
  folder: string;
  as?: string;
}

export class Workspace {
  private constructor(
    /** Absolute path of the copy. */
    readonly folder: string,
    private readonly as: string | undefined,
  ) {}

  static async copy(config: WorkspaceConfig, environmentFolder: string): Promise<Workspace> {
    const from = await fileBeside(environmentFolder, config.folder);
    const made = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'rehearsal-session-')));
    const folder = path.join(made, path.basename(from));
    // Links are copied as they are: what they lead to is no part of the workspace.
    await fs.cp(from, folder, { recursive: true, verbatimSymlinks: true });
    return new Workspace(folder, config.as);
  }

  /** Arguments and addresses of a program, in which `${workspace}` stands for the copy. */
  placed(text: string): string {
    return text.replaceAll('${workspace}', this.folder);
  }

  /** What the policy wrote, with its name of the folder replaced by the real one. */
  inward<T extends Json>(value: T): T {
    return this.as ? (replaced(value, this.as, this.folder) as T) : value;
  }

  /** What the tool answered, with the real folder replaced by its name. */
  outward<T extends Json>(value: T): T {
    return this.as ? (replaced(value, this.folder, this.as) as T) : value;
  }

  async remove(): Promise<void> {
    await fs.rm(path.dirname(this.folder), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A folder's name inside texts; `/workspace2` does not begin with `/workspace`. */
function replaced(value: Json, from: string, to: string): Json {
  if (typeof value === 'string') {
    let text = '';
    let done = 0;
    for (let at = value.indexOf(from); at >= 0; at = value.indexOf(from, at + 1)) {
      const next = value[at + from.length];
      if (at < done || (next !== undefined && /[\w-]/.test(next))) continue;
      text += value.slice(done, at) + to;
      done = at + from.length;
    }
    return text + value.slice(done);
  }
  if (Array.isArray(value)) return value.map((item) => replaced(item, from, to));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, from, to)]));
}
