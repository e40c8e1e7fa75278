/** What can be done with a run and its checkpoints; trees, pages and notifications all come here. */
import fs from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { RunStatus } from '../../core/training/run.types';
import { UserError } from '../../core/user-error';
import { sessionsFolder } from '../../node/sessions/file';
import type { Config } from '../config';
import { folderOf } from '../environments/folder';
import type { Services, SessionFeature } from '../services';
import { keysFor } from './keys';
import { failingTurn, type Listed } from './rollouts';
import type { Runs } from './runs';
import { viewOfSession } from './session';
import { ACTIVE } from './texts';

export interface ActionsHost extends Pick<Services, 'context' | 'log'> {
  runs: Runs;
  config: Config;
  session: SessionFeature;
  /** Launches from a file, the checkpoint named in it. */
  branch(run: RunStatus, step: number): Promise<void>;
}

export class RunActions {
  constructor(private readonly host: ActionsHost) {}

  async stop(id: string): Promise<void> {
    const { runs } = this.host;
    runs.note(await runs.client.stop(id));
  }

  async resume(id: string): Promise<void> {
    const { runs, context } = this.host;
    const keys = await keysFor(await runs.client.config(id), context.secrets);
    runs.note(await runs.client.resume(id, keys));
  }

  /** Stops where it still runs, and rehearses with the best checkpoint from now on. */
  async keepBest(id: string): Promise<void> {
    const status = await this.status(id);
    if (status.bestStep === null)
      throw new UserError('No checkpoint is the best yet.', 'Wait for the first evaluation.');
    if (ACTIVE.has(status.state)) await this.stop(id);
    await this.use(status, status.bestStep);
  }

  async checkpoint(id: string, step: number, what: 'branch' | 'export' | 'use'): Promise<void> {
    const status = await this.status(id);
    if (what === 'use') return this.use(status, step);
    if (what === 'branch') return this.host.branch(status, step);
    return this.export(status, step);
  }

  /** Asks first: it cannot be undone. */
  async remove(id: string): Promise<boolean> {
    const { name, step, checkpoints } = await this.status(id);
    const kept = checkpoints.filter((checkpoint) => checkpoint.kept).length;
    const answer = await vscode.window.showWarningMessage(
      `Delete the run ${name}?`,
      {
        modal: true,
        detail: `${step} steps, their rollouts and ${kept} checkpoints are deleted. This cannot be undone.`,
      },
      'Delete',
    );
    if (answer !== 'Delete') return false;
    await this.host.runs.client.remove(id);
    return true;
  }

  /** A folder with one JSON object a line: ids, log-probabilities, roles and advantages. */
  async exportRollouts(id: string): Promise<void> {
    const target = await vscode.window.showSaveDialog({
      title: 'Export Rollouts',
      defaultUri: vscode.Uri.file(path.join(workspaceFolder(), `${id}.rollouts.jsonl`)),
      filters: { 'JSON Lines': ['jsonl'] },
    });
    if (!target) return;
    await withProgress(`Exporting the rollouts of ${id}`, async (signal) => {
      const rows = await this.host.runs.client.exportRollouts(id);
      await fs.writeFile(target.fsPath, rows as unknown as AsyncIterable<Uint8Array>, { signal });
    });
    await told(`The rollouts of ${id} are in ${target.fsPath}.`, target, false);
  }

  /** Opens a rollout at the turn that failed, with the weights that sampled it or those that are nearest. */
  async debug(id: string, rollout: Listed): Promise<void> {
    const { runs, session } = this.host;
    const { step, index, attempt } = rollout;
    const { text, checkpoint } = await runs.client.session(id, step, index);
    const { environmentFile } = await this.status(id);
    const folder = sessionsFolder(folderOf(environmentFile));
    const file = path.join(folder, `${id}-step-${step}-rollout-${index}-with-${checkpoint}.jsonl`);
    await fs.mkdir(folder, { recursive: true });
    // What a person stepped on from here before is theirs, and is opened again.
    await fs.writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await session.open(file, failingTurn(rollout, viewOfSession(text)));
    const weights =
      checkpoint === step - 1
        ? `the weights that sampled it (checkpoint ${checkpoint})`
        : `checkpoint ${checkpoint}, the nearest that is kept to step ${step - 1}, which sampled it`;
    void vscode.window.showInformationMessage(
      `Rollout ${attempt + 1} of step ${step} goes on with ${weights}.`,
    );
  }

  private async use({ id, name, checkpoints }: RunStatus, step: number): Promise<void> {
    const checkpoint = checkpoints.find((one) => one.step === step && one.kept);
    if (!checkpoint)
      throw new UserError(
        `The weights of step ${step} of ${id} are not kept.`,
        'Choose a checkpoint that is.',
      );
    await this.host.config.setModel(checkpoint.model);
    void vscode.window.showInformationMessage(
      `New sessions use ${checkpoint.model}, the checkpoint of step ${step} of ${name}. Select Model changes it back.`,
    );
  }

  private async export({ id }: RunStatus, step: number): Promise<void> {
    const { settings } = await this.host.runs.client.config(id);
    const kinds = [
      {
        label: 'Merged Hugging Face folder',
        detail: 'Plain transformers and vLLM load it',
        form: 'merged' as const,
      },
      ...(settings.weights === 'lora'
        ? [
            {
              label: 'PEFT adapter',
              detail: 'Small; needs the model it was trained from',
              form: 'peft' as const,
            },
          ]
        : []),
    ];
    const picked =
      kinds.length === 1
        ? kinds[0]
        : await vscode.window.showQuickPick(kinds, { title: `Export the checkpoint of step ${step}` });
    if (!picked) return;
    const target = await vscode.window.showSaveDialog({
      title: 'Export Checkpoint to a New Folder',
      saveLabel: 'Export',
      defaultUri: vscode.Uri.file(path.join(workspaceFolder(), `${id}-step-${step}`)),
    });
    if (!target) return;
    const { folders } = await withProgress(`Exporting step ${step} of ${id}`, (signal) =>
      this.host.runs.client.export(id, step, picked.form, target.fsPath, signal),
    );
    await told(
      `The checkpoint is in ${folders.join(' and ')}.`,
      vscode.Uri.file(folders[0] ?? target.fsPath),
      true,
    );
  }

  private async status(id: string): Promise<RunStatus> {
    return this.host.runs.get(id) ?? this.host.runs.client.get(id);
  }
}

function workspaceFolder(): string {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
}

async function withProgress<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, async (_, token) => {
    const abort = new AbortController();
    token.onCancellationRequested(() => abort.abort());
    return work(abort.signal);
  });
}

/** Where something was put, with the button that shows it. */
async function told(message: string, uri: vscode.Uri, isFolder: boolean): Promise<void> {
  const show = isFolder ? 'Show in Explorer' : 'Open';
  if ((await vscode.window.showInformationMessage(message, show)) !== show) return;
  await vscode.commands.executeCommand(isFolder ? 'revealInExplorer' : 'vscode.open', uri);
}
