/** The one list of what may run for real, and taking it back. */
import * as vscode from 'vscode';
import { printable } from '../../core/text';
import type { ConsentStore, Grant } from '../../node/tools/consent';

type Item = vscode.QuickPickItem & { grant?: Grant };

export async function manageConsents(store: ConsentStore): Promise<void> {
  const grants = await store.list();
  if (grants.length === 0) {
    await vscode.window.showInformationMessage(
      'Nothing may run for real: you are asked before the first call.',
    );
    return;
  }
  const picked = await vscode.window.showQuickPick(itemsOf(grants), {
    title: 'Consents to Real Tools',
    placeHolder: 'Tick what is to be asked for again',
    canPickMany: true,
    matchOnDescription: true,
    matchOnDetail: true,
    ignoreFocusOut: true,
  });
  const revoked = (picked ?? []).flatMap(({ grant }) => grant ?? []);
  for (const grant of revoked) await store.revoke(grant);
  if (revoked.length > 0)
    await vscode.window.showInformationMessage(
      revoked.length === 1 ? 'One consent was taken back.' : `${revoked.length} consents were taken back.`,
    );
}

/** By workspace and by what runs; the program or address first, then its tools. */
export function itemsOf(grants: readonly Grant[]): Item[] {
  const groups = new Map<string, Grant[]>();
  for (const grant of grants) groups.set(keyOf(grant), [...(groups.get(keyOf(grant)) ?? []), grant]);
  return [...groups.values()].flatMap((group) => {
    const { workspace, identity } = group[0]!;
    const sorted = [...group].sort((a, b) => Number(a.tool !== null) - Number(b.tool !== null));
    return [
      { label: printable(workspace), kind: vscode.QuickPickItemKind.Separator },
      ...sorted.map((grant) => itemOf(grant, identity.what)),
    ];
  });
}

const keyOf = ({ workspace, identity }: Grant) => `${workspace}\n${identity.kind}\n${identity.hash}`;

function itemOf(grant: Grant, what: string): Item {
  const { tool, identity, annotations } = grant;
  const at = `since ${new Date(grant.at).toLocaleString()}`;
  if (tool !== null)
    return { label: `$(tools) ${printable(tool)}`, description: printable(what), detail: at, grant };
  const marks = annotations ? '; its read-only marks are trusted' : '';
  return {
    label: `$(server-process) ${printable(what)}`,
    description: `${identity.kind}, its read-only tools${marks}; taken back with all of its tools`,
    detail: `${identity.folder ? `${printable(identity.folder)}, ` : ''}${at}`,
    grant,
  };
}
