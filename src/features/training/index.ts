/** Training: the page over a training file, the page of a run, their view, and how a run goes on meanwhile. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { RunStatus } from '../../core/training/run.types';
import { UserError } from '../../core/user-error';
import type { Config } from '../config';
import type { EnvironmentStore } from '../environments/store';
import { usable } from '../environments/usable';
import { Command, Language, TRAINING_EDITOR, TRAINING_PANEL, View } from '../ids';
import type { Services, SessionFeature } from '../services';
import { RunActions } from './actions';
import { TrainingDiagnostics } from './diagnostics';
import { FilePages } from './file-page';
import { TrainingFiles } from './files';
import { launch } from './launch';
import { TrainingLenses } from './lenses';
import { writeBranchFile, writeNewFile } from './new-file';
import { followProgress } from './progress';
import { RunPages } from './run-page';
import { Runs } from './runs';
import { type TrainingNode, TrainingTree } from './tree';

export interface TrainingDependencies {
  services: Services;
  config: Config;
  environments: EnvironmentStore;
  session: SessionFeature;
}

export function registerTraining({ services, config, environments, session }: TrainingDependencies): void {
  const { context, showError } = services;
  const files = new TrainingFiles(environments);
  const runs = new Runs(services.server, services.log);
  const open = (run: RunStatus) => pages.show(run);
  const openFile = async (file: string) => {
    await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(file), TRAINING_EDITOR);
  };
  const actions = new RunActions({
    ...services,
    runs,
    config,
    session,
    branch: async (run, step) => openFile(await writeBranchFile(run, step)),
  });
  const pages: RunPages = new RunPages({ ...services, runs, actions });
  const filePages = new FilePages({
    ...services,
    files,
    environments,
    runs,
    launch: async (file) => {
      const status = await launch(file, { ...services, files, runs });
      if (status) open(status);
    },
  });
  const tree = new TrainingTree(runs);
  const lenses = new TrainingLenses(runs);
  const command = (id: string, work: (argument: unknown) => Promise<unknown>) =>
    vscode.commands.registerCommand(id, (argument: unknown) => work(argument).catch(showError));
  const onRun = (id: string, work: (run: string) => Promise<unknown>) =>
    command(id, async (argument) => {
      const run = await runOf(argument, runs);
      if (run) await work(run.id);
    });
  const onCheckpoint = (id: string, what: 'branch' | 'export' | 'use') =>
    command(id, async (argument) => {
      const run = await runOf(argument, runs);
      const step = run && (await stepOf(argument, run));
      if (run && step !== undefined) await actions.checkpoint(run.id, step, what);
    });

  context.subscriptions.push(
    files,
    runs,
    tree,
    lenses,
    new TrainingDiagnostics(files),
    followProgress({
      runs,
      open,
      stop: (id) => actions.stop(id),
      keepBest: (id) => actions.keepBest(id),
      showError,
    }),
    vscode.window.createTreeView(View.training, { treeDataProvider: tree, showCollapseAll: true }),
    vscode.window.registerCustomEditorProvider(TRAINING_EDITOR, filePages, {
      webviewOptions: { retainContextWhenHidden: false, enableFindWidget: true },
    }),
    vscode.window.registerWebviewPanelSerializer(TRAINING_PANEL, pages),
    vscode.languages.registerCodeLensProvider({ language: Language.training, scheme: 'file' }, lenses),
    vscode.workspace.onDidGrantWorkspaceTrust(() => runs.watch()),
    command(Command.launchTraining, async (argument) => {
      const file = await fileOf(argument, files, environments);
      if (file) await openFile(file);
    }),
    command(Command.openRun, async (argument) => {
      const run = await runOf(argument, runs);
      if (run) open(run);
    }),
    onRun(Command.stopRun, (id) => actions.stop(id)),
    onRun(Command.resumeRun, (id) => actions.resume(id)),
    onRun(Command.deleteRun, async (id) => {
      if (await actions.remove(id)) pages.close(id);
    }),
    onRun(Command.exportRollouts, (id) => actions.exportRollouts(id)),
    command(Command.compareCheckpoints, async (argument) => {
      const run = await runOf(argument, runs);
      if (run) pages.show(run, true);
    }),
    onCheckpoint(Command.branchCheckpoint, 'branch'),
    onCheckpoint(Command.exportCheckpoint, 'export'),
    onCheckpoint(Command.useCheckpoint, 'use'),
  );
}

/** The run of a row, a lens or a button; else asks which. */
async function runOf(argument: unknown, runs: Runs): Promise<RunStatus | undefined> {
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

async function stepOf(argument: unknown, { checkpoints }: RunStatus): Promise<number | undefined> {
  const step = (argument as { step?: unknown } | undefined)?.step;
  if (typeof step === 'number') return step;
  const picks = checkpoints
    .filter(({ kept }) => kept)
    .map((one) => ({ label: `step ${one.step}`, description: one.best ? 'best' : '', step: one.step }));
  if (picks.length === 0) throw new UserError('This run has no checkpoint yet.', 'Wait for the first one.');
  return (await vscode.window.showQuickPick(picks, { placeHolder: 'Which checkpoint?' }))?.step;
}

/** The training file that is meant; where there is none, one is written for an environment. */
async function fileOf(
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
  const picks = all.map((file) => ({ label: vscode.workspace.asRelativePath(file), file }));
  const fresh = { label: '$(add) New Training File…', file: '' };
  const picked = await vscode.window.showQuickPick([...picks, fresh], {
    title: 'Launch Training',
    placeHolder: 'Which training file?',
  });
  return picked && (picked.file || newFile(environments));
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
