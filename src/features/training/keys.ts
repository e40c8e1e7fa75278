/** Keys that a run needs (a judge, a remote learner, real tools): in VS Code's secret storage, by their name. */
import * as vscode from 'vscode';
import { printable } from '../../core/text';
import type { RunKeys } from '../../node/runs/client';
import { keyNames } from '../../node/runs/keys';

type Needing = Parameters<typeof keyNames>[0];

const keyOf = (name: string) => `rehearsal.trainingKey:${name}`;

/** Asks for what is not known yet. Throws where the person turns away: nothing runs without its keys. */
export async function keysFor(config: Needing, secrets: vscode.SecretStorage): Promise<RunKeys> {
  const keys: Record<string, string> = {};
  for (const name of keyNames(config)) {
    const key = (await secrets.get(keyOf(name))) ?? (await ask(name, secrets));
    if (!key) throw new vscode.CancellationError();
    keys[name] = key;
  }
  return keys;
}

async function ask(name: string, secrets: vscode.SecretStorage): Promise<string | undefined> {
  const given = await vscode.window.showInputBox({
    title: `Key ${printable(name)}`,
    prompt:
      'The server keeps it in memory while the run lasts; here it is kept in the secret storage of VS Code.',
    password: true,
    ignoreFocusOut: true,
  });
  if (given) await secrets.store(keyOf(name), given);
  return given || undefined;
}
