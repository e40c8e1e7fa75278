/**
 * Keys that a run needs (a judge, a remote learner, real tools): in VS Code's secret storage, by name and by the
 * address they go to, so that no other training file can have them sent elsewhere.
 */
import * as vscode from 'vscode';
import { printable } from '../../core/text';
import type { RunKeys } from '../../node/runs/client';
import { type KeyNeed, keyNeeds } from '../../node/runs/keys';

type Needing = Parameters<typeof keyNeeds>[0];

const keyOf = ({ name, address }: KeyNeed) => `rehearsal.trainingKey:${address}:${name}`;

/** Asks for what is not known yet. Throws where the person turns away: nothing runs without its keys. */
export async function keysFor(config: Needing, secrets: vscode.SecretStorage): Promise<RunKeys> {
  const keys: Record<string, string> = {};
  for (const need of keyNeeds(config)) {
    const key = (await secrets.get(keyOf(need))) ?? (await ask(need, secrets));
    if (!key) throw new vscode.CancellationError();
    keys[need.name] = key;
  }
  return keys;
}

async function ask(need: KeyNeed, secrets: vscode.SecretStorage): Promise<string | undefined> {
  const given = await vscode.window.showInputBox({
    title: `Key ${printable(need.name)} for ${printable(need.address)}`,
    prompt:
      'The server keeps it in memory while the run lasts; here it is kept in the secret storage of VS Code.',
    password: true,
    ignoreFocusOut: true,
  });
  if (given) await secrets.store(keyOf(need), given);
  return given || undefined;
}
