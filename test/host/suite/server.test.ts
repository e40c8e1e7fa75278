/** The server as a person sees it: view, status bar, stop and start, and what is said when none answers. */
import assert from 'node:assert/strict';
import net, { type AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import { driver, until } from '../support';

const statusBar = () =>
  driver<string>({ op: 'text', selector: '[id="rehearsal-studio.rehearsal-studio.rehearsal.server"]' });
const rows = async () => {
  const selector = '.pane:has(.title:text-is("Server")) .monaco-list-row';
  // Trees are written with no-break spaces.
  return (await driver<string[]>({ op: 'texts', selector })).map((row) => row.replace(/\u00a0/g, ' '));
};
const settings = () => vscode.workspace.getConfiguration('rehearsal');
const setAddress = (address: string | undefined) =>
  settings().update('server.address', address, vscode.ConfigurationTarget.Global);

/** An address at which nothing listens. */
async function deadAddress(): Promise<string> {
  const server = net.createServer();
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', ok));
  const { port } = server.address() as AddressInfo;
  await new Promise((ok) => server.close(ok));
  return `http://127.0.0.1:${port}`;
}

describe('server', function () {
  this.timeout(240_000);

  before(() => vscode.commands.executeCommand('rehearsal.server.focus'));
  after(() => setAddress(undefined));

  it('that does not answer is named, with the reason, where the person looks', async () => {
    const address = await deadAddress();
    await setAddress(address);
    await until(async () => (await rows()).some((row) => row.includes(address)), 'the address in the view');
    await vscode.commands.executeCommand('rehearsal.selectModel');
    await until(async () => /failed/.test(await statusBar()), 'the failure in the status bar');
    const reason = `No server answers at ${address}`;
    await until(async () => (await rows()).some((row) => row.includes(reason)), 'the reason in the view');
    await driver({ op: 'screenshot', name: 'server-failed' });
  });

  it('of this machine is started, named, stopped and started again', async () => {
    await setAddress(undefined);
    await vscode.commands.executeCommand('rehearsal.startServer');
    await until(async () => /idle/.test(await statusBar()), 'an idle server');
    const shown = (await rows()).join('\n');
    assert.match(shown, /127\.0\.0\.1:\d+/);
    await driver({ op: 'screenshot', name: 'server-ready' });
    await vscode.commands.executeCommand('rehearsal.stopServer');
    await until(async () => /stopped/.test(await statusBar()), 'the server to stop');
    await vscode.commands.executeCommand('rehearsal.startServer');
    await until(async () => /idle/.test(await statusBar()), 'an idle server again');
  });
});
