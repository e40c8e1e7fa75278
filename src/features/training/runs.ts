/** What this window knows of the runs of its server: told by the server as they change, however often it restarts. */
import * as vscode from 'vscode';
import type { RunStatus } from '../../core/training/run.types';
import { UserError } from '../../core/user-error';
import { RunsClient } from '../../node/runs/client';
import type { Log, Server } from '../services';

export interface RunChange {
  status: RunStatus;
  before: RunStatus | null;
}

export class Runs implements vscode.Disposable {
  /** For what a person asks for: starts the server where it does not run. */
  readonly client: RunsClient;
  /** For what only looks: never starts anything. */
  readonly quiet: RunsClient;
  private readonly known = new Map<string, RunStatus>();
  private readonly abort = new AbortController();
  private readonly changed = new vscode.EventEmitter<RunChange | null>();
  /** Fires with a run that is new or has changed; null where one is gone or the connection came or went. */
  readonly onDidChange = this.changed.event;
  /** Why nothing is heard of the server, where that is so. */
  trouble: string | null = null;

  constructor(
    server: Server,
    private readonly log: Log,
  ) {
    this.client = new RunsClient(async () => present(await server.address({ start: true })));
    this.quiet = new RunsClient(async () => present(await server.address({ start: false })));
    if (vscode.workspace.isTrusted) this.watch();
  }

  /** Newest first. */
  get all(): RunStatus[] {
    return [...this.known.values()].sort(
      (a, b) => b.created.localeCompare(a.created) || b.id.localeCompare(a.id),
    );
  }

  get(id: string): RunStatus | undefined {
    return this.known.get(id);
  }

  /** Begins to listen; for a workspace that was trusted later. */
  watch(): void {
    void this.quiet
      .watch({
        signal: this.abort.signal,
        onStatus: (status) => this.note(status),
        onRemoved: (id) => {
          this.known.delete(id);
          this.changed.fire(null);
        },
        onTrouble: (why) => {
          this.trouble = why;
          this.changed.fire(null);
        },
      })
      .catch((error: Error) => this.log.warn(`Runs are not heard of any more: ${error.message}`));
  }

  /** What was answered to a request is known at once, before the server tells it to everybody. */
  note(status: RunStatus): void {
    const before = this.known.get(status.id) ?? null;
    if (before && JSON.stringify(before) === JSON.stringify(status)) return;
    this.known.set(status.id, status);
    this.changed.fire({ status, before });
  }

  dispose(): void {
    this.abort.abort();
    this.changed.dispose();
  }
}

function present<T>(address: T | null): T {
  if (address === null)
    throw new UserError('The local server does not run.', 'It starts with the next session or run.');
  return address;
}
