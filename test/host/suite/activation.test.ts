import assert from 'node:assert/strict';
import * as vscode from 'vscode';

const ID = 'rehearsal-studio.rehearsal-studio';

describe('activation', () => {
  it('activates and registers every command that package.json contributes', async () => {
    const extension = vscode.extensions.getExtension(ID);
    assert.ok(extension, 'the extension is installed');
    await extension.activate();
    const registered = new Set(await vscode.commands.getCommands(true));
    const contributed: { command: string }[] = extension.packageJSON.contributes.commands;
    assert.deepEqual(
      contributed.map((c) => c.command).filter((c) => !registered.has(c)),
      [],
    );
  });
});
