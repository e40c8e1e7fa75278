/** Keys of servers that people name: in VS Code's secret storage, by address, and nowhere else. */
import * as vscode from 'vscode';

const keyOf = (address: string) => `rehearsal.serverToken:${address}`;

export class BearerTokens {
  constructor(private readonly secrets: vscode.SecretStorage) {}

  async get(address: string): Promise<string | undefined> {
    return (await this.secrets.get(keyOf(address))) || undefined;
  }

  /** Asks for the key of an address; an empty one forgets it. False where the person left. */
  async ask(address: string): Promise<boolean> {
    const given = await vscode.window.showInputBox({
      title: `Token for ${address}`,
      prompt: 'Sent as a bearer token; kept in the secret storage of VS Code. Leave it empty to forget it.',
      password: true,
      ignoreFocusOut: true,
    });
    if (given === undefined) return false;
    if (given.trim()) await this.secrets.store(keyOf(address), given.trim());
    else await this.secrets.delete(keyOf(address));
    return true;
  }
}
