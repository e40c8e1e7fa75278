/** Training: the page over a training file, the page of a run, their view, and how a run goes on meanwhile. */
import * as vscode from 'vscode';
import type { RunStatus } from '../../core/training/run.types';
import { fileColumn } from '../columns';
import type { Config } from '../config';
import type { EnvironmentStore } from '../environments/store';
import { Command, Language, TRAINING_EDITOR, TRAINING_PANEL, View } from '../ids';
import type { Services, SessionFeature } from '../services';
import { RunActions } from './actions';
import { fileOf, runOf, stepOf } from './ask';
import { TrainingDiagnostics } from './diagnostics';
import { FilePages } from './file-page';
import { TrainingFiles } from './files';
import { launch } from './launch';
import { TrainingLenses } from './lenses';
import { writeBranchFile } from './new-file';
import { followProgress } from './progress';
import { RunPages } from './run-page';
import { Runs } from './runs';
import { TrainingTree } from './tree';

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
    const uri = vscode.Uri.file(file);
    await vscode.commands.executeCommand('vscode.openWith', uri, TRAINING_EDITOR, fileColumn(uri));
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
