/** The local server for this window: found, or set up and started with progress, after the person agreed. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { Signal } from '../../core/policy';
import { errors } from '../../node/errors';
import { findServer, type RunningServer, readDiscovery } from '../../node/server/discovery';
import { ensureServer, type Server, stopServer } from '../../node/server/ensure';
import { homeAt } from '../../node/server/home';
import { installSize } from '../../node/server/python';
import type { Config } from '../config';
import type { Log } from '../services';

export class LocalServer {
  /** Callers that come while it starts wait for the same start. */
  private starting: Promise<Server> | undefined;

  constructor(
    /** Folder of the extension, which holds the server's files. */
    private readonly sourceDir: string,
    private readonly config: Config,
    private readonly log: Log,
  ) {}

  get logFile(): string {
    return homeAt(this.root).log;
  }

  find(): Promise<RunningServer | null> {
    return findServer(this.root);
  }

  /** Whether it ran before. */
  isSetUp(): boolean {
    return readDiscovery(homeAt(this.root)) !== null;
  }

  ensure(signal?: Signal): Promise<Server> {
    this.starting ??= this.start(signal).finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  stop(): Promise<boolean> {
    return stopServer(this.root);
  }

  private get root(): string | undefined {
    return this.config.serverHome ?? undefined;
  }

  private async start(signal?: Signal): Promise<Server> {
    const python = this.config.serverPython ?? undefined;
    const size = await installSize(path.join(this.sourceDir, 'server/engine'), homeAt(this.root), python);
    if (size !== null) await this.ask(size);
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: 'Rehearsal server',
      cancellable: true,
    };
    return vscode.window.withProgress(options, async (progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => abort.abort());
      signal?.addEventListener('abort', () => abort.abort());
      return ensureServer({
        sourceDir: this.sourceDir,
        python,
        home: this.root,
        signal: abort.signal,
        onProgress: (message) => {
          this.log.info(message);
          progress.report({ message });
        },
      });
    });
  }

  /** Says what is downloaded, where to and how large it is, before anything is. */
  private async ask(size: string): Promise<void> {
    const agree = 'Set Up';
    const detail =
      `It downloads PyTorch and the packages of the engine from the Python package index (${size}) ` +
      `into ${homeAt(this.root).root}. The embedded model comes with the extension: no account, no GPU, no key. ` +
      'You can cancel at any time; it goes on where it stopped.';
    const answer = await vscode.window.showInformationMessage(
      'Set up the local server?',
      { modal: true, detail },
      agree,
    );
    if (answer !== agree) throw errors.cancelled('Setting the server up');
  }
}
