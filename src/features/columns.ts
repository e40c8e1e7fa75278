/** Where a page opens: a transcript stands in a narrow group beside its session, and no page belongs there. */
import * as vscode from 'vscode';
import { TRANSCRIPT_SCHEME } from './ids';

/** The active group; where it shows a transcript, one that does not. */
export function pageColumn(): vscode.ViewColumn {
  const { activeTabGroup, all } = vscode.window.tabGroups;
  const group = [activeTabGroup, ...all].find((one) => !showsTranscript(one));
  return group?.viewColumn ?? vscode.ViewColumn.Active;
}

/** The group that has a tab of this file, in whichever editor; else as for any page. */
export function fileColumn(uri: vscode.Uri): vscode.ViewColumn {
  const has = ({ input }: vscode.Tab) =>
    (input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputText) &&
    input.uri.toString() === uri.toString();
  const { activeTabGroup, all } = vscode.window.tabGroups;
  const group = [activeTabGroup, ...all].find(({ tabs }) => tabs.some(has));
  return group?.viewColumn ?? pageColumn();
}

function showsTranscript({ activeTab }: vscode.TabGroup): boolean {
  const input = activeTab?.input;
  return input instanceof vscode.TabInputText && input.uri.scheme === TRANSCRIPT_SCHEME;
}
