/**
 * Secrets of tool servers, named in headers as `${NAME}`: in VS Code's secret storage, by name and by the address
 * they go to, so that no other environment can have them sent elsewhere.
 */
import * as vscode from 'vscode';
import type { Environment } from '../../core/environment/types';
import { isObject } from '../../core/json';
import { printable } from '../../core/text';
import { UserError } from '../../core/user-error';
import { secretNames } from '../../node/tools/secrets';
import type { Environments } from '../services';

const keyOf = (origin: string, name: string) => `rehearsal.toolSecret:${origin}:${name}`;

/** The address that an environment's tools are called at, and the secrets that its headers name. */
export function secretsOf({ executor }: Environment): { origin: string; names: string[] } | null {
  if (typeof executor?.url !== 'string' || !URL.canParse(executor.url) || !isObject(executor.headers ?? {}))
    return null;
  const texts = Object.entries(executor.headers ?? {}).filter(([, text]) => typeof text === 'string');
  const names = secretNames(Object.fromEntries(texts) as { [name: string]: string });
  return names.length ? { origin: new URL(executor.url).origin, names } : null;
}

export class ToolSecrets {
  constructor(private readonly storage: vscode.SecretStorage) {}

  /** The secret, asked for where it is missing; undefined where the person left. */
  async get(origin: string, name: string): Promise<string | undefined> {
    return (await this.storage.get(keyOf(origin, name))) || this.ask(origin, name);
  }

  /** Asks for a secret and keeps it; an empty one is forgotten. */
  async ask(origin: string, name: string): Promise<string | undefined> {
    const given = await vscode.window.showInputBox({
      title: `${printable(name)} for ${printable(origin)}`,
      prompt:
        'Sent in a header with each call to this address; kept in the secret storage of VS Code. Leave it empty to forget it.',
      password: true,
      ignoreFocusOut: true,
    });
    if (given === undefined) return undefined;
    if (given) await this.storage.store(keyOf(origin, name), given);
    else await this.storage.delete(keyOf(origin, name));
    return given || undefined;
  }

  /** The command: asks which, where the workspace's environments name several. */
  async set(environments: Environments): Promise<void> {
    const loaded = await Promise.all((await environments.files()).map((file) => environments.load(file)));
    const found = new Map<string, { label: string; description: string; origin: string; name: string }>();
    for (const { environment } of loaded) {
      const needed = environment && secretsOf(environment);
      for (const name of needed?.names ?? []) {
        const { origin } = needed!;
        found.set(keyOf(origin, name), { label: name, description: origin, origin, name });
      }
    }
    if (found.size === 0) {
      throw new UserError(
        'No environment of this workspace names a secret.',
        'Name one in the headers of an http or mcp executor; docs/tools.md shows how.',
      );
    }
    const picked =
      found.size === 1
        ? [...found.values()][0]
        : await vscode.window.showQuickPick([...found.values()], { placeHolder: 'Which secret?' });
    if (picked) await this.ask(picked.origin, picked.name);
  }
}
