/** Which training file, run or checkpoint is meant: told by where the command was called, else asked for. */
import path from 'node:path';
import * as vscode from 'vscode';
import { printable } from '../../core/text';
import type { RunStatus } from '../../core/training/run.types';
import { UserError } from '../../core/user-error';
import type { EnvironmentStore } from '../environments/store';
import { usable } from '../environments/usable';
import { Command, Language } from '../ids';
import type { TrainingFiles } from './files';
import { writeNewFile } from './new-file';
import { aboutOf, inOrder } from './order';
import type { Runs } from './runs';
import type { TrainingNode } from './tree';

/** The run of a row, a lens or a button; else asks which. */
export async function runOf(argument: unknown, runs: Runs): Promise<RunStatus | undefined> {
  const id = (argument as Partial<TrainingNode> | undefined)?.id;
  if (typeof id === 'string') return runs.get(id) ?? runs.client.get(id);
  const all = runs.all.length > 0 ? runs.all : await runs.client.list();
  if (all.length === 0)
    throw new UserError('There are no runs yet.', 'Launch one with Rehearsal: Launch Training.');
  const picks = all.map((run) => ({
    label: run.name,
    description: `${run.state}, step ${run.step} of ${run.steps}`,
    run,
  }));
  return (await vscode.window.showQuickPick(picks, { title: 'Training Runs', placeHolder: 'Which run?' }))
    ?.run;
}

export async function stepOf(argument: unknown, { checkpoints }: RunStatus): Promise<number | undefined> {
  const step = (argument as { step?: unknown } | undefined)?.step;
  if (typeof step === 'number') return step;
  const picks = checkpoints
    .filter(({ kept }) => kept)
    .map((one) => ({ label: `step ${one.step}`, description: one.best ? 'best' : '', step: one.step }));
  if (picks.length === 0) throw new UserError('This run has no checkpoint yet.', 'Wait for the first one.');
  return (await vscode.window.showQuickPick(picks, { placeHolder: 'Which checkpoint?' }))?.step;
}

/** The training file that is meant; where there is none, one is written for an environment. */
export async function fileOf(
  argument: unknown,
  files: TrainingFiles,
  environments: EnvironmentStore,
): Promise<string | undefined> {
  if (argument instanceof vscode.Uri) return argument.fsPath;
  const active = vscode.window.activeTextEditor?.document;
  if (active?.languageId === Language.training) return active.uri.fsPath;
  // The launch page is no text editor.
  const shown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  if (shown instanceof vscode.TabInputCustom && shown.uri.path.endsWith('.training.json'))
    return shown.uri.fsPath;
  const all = await files.list();
  if (all.length === 1) return all[0];
  if (all.length === 0) return newFile(environments);
  const picks = inOrder(await Promise.all(all.map((file) => offered(file, files))));
  const fresh = { label: '$(add) New Training File…', file: '' };
  const picked = await vscode.window.showQuickPick([...picks, fresh], {
    title: 'Launch Training',
    placeHolder: 'Which training file?',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return picked && (picked.file || newFile(environments));
}

/** A row that says what the file is: its model, variant and size, and what its author says of it. */
async function offered(file: string, files: TrainingFiles) {
  const folder = vscode.workspace.asRelativePath(path.dirname(file));
  const pick = { label: path.basename(file), file };
  try {
    const { settings, parts, text } = await files.load(file);
    const tasks = parts.train.length;
    const size = `${settings.steps} steps, ${tasks} tasks`;
    const facts = [folder, ...(settings.model ? [settings.model] : []), settings.variant, size];
    return {
      ...pick,
      text,
      description: facts.map((fact) => printable(fact)).join(' · '),
      detail: printable(aboutOf(text)) || undefined,
    };
  } catch {
    // Its page says what is wrong with it.
    return { ...pick, text: '', description: folder };
  }
}

async function newFile(environments: EnvironmentStore): Promise<string | undefined> {
  const all = await environments.files();
  if (all.length === 0) {
    throw new UserError('There is no environment to train on.', 'Open the examples, or write one.', {
      title: 'Open Examples…',
      id: Command.openExamples,
    });
  }
  const picks = all.map((file) => ({
    label: path.basename(file, '.rehearsal.json'),
    description: vscode.workspace.asRelativePath(file),
    file,
  }));
  const picked =
    picks.length === 1
      ? picks[0]
      : await vscode.window.showQuickPick(picks, {
          title: 'New Training File',
          placeHolder: 'For which environment?',
        });
  if (!picked) return undefined;
  return writeNewFile(picked.file, usable(await environments.load(picked.file)));
}
