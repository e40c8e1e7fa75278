/** Tasks as tests: profiles Rehearse, Execute, Compare and Debug, results that survive a reload, links into the sessions. */
import * as vscode from 'vscode';
import { UserError } from '../../core/user-error';
import type { Config } from '../config';
import type { EnvironmentStore } from '../environments/store';
import { type Target, targetOf } from '../environments/target';
import { notTrusted } from '../errors';
import { Command, DEBUG_TYPE, TEST_CONTROLLER } from '../ids';
import type { Services, SessionFeature } from '../services';
import { compareTasks, showCompared } from './compare';
import { type TaskItem, TestItems } from './items';
import { Judges } from './judge';
import { Publisher } from './publish';
import type { Results } from './results';
import { executeTasks, rehearseTasks } from './run';

export interface TestingDependencies {
  services: Services;
  config: Config;
  environments: EnvironmentStore;
  results: Results;
  session: SessionFeature;
}

export function registerTesting({
  services,
  config,
  environments,
  results,
  session,
}: TestingDependencies): void {
  const { context, server, showError, tools } = services;
  const controller = vscode.tests.createTestController(TEST_CONTROLLER, 'Rehearsal');
  const publisher = new Publisher();

  const republish = (tasks: TaskItem[], changed: TaskItem[]) => {
    const known = tasks.flatMap((task) => {
      const { file } = task.loaded;
      const rehearsed = results.get(file, task.task.id);
      const result = results.getReal(file, task.task.id) ?? (rehearsed && { executed: rehearsed });
      return result ? [{ task, result }] : [];
    });
    if (known.length === 0) return;
    const run = controller.createTestRun(new vscode.TestRunRequest(), 'Last results', false);
    for (const { task, result } of known) {
      if ('compared' in result) showCompared(run, task, result.compared);
      else publisher.show(run, task, result.executed);
    }
    run.end();
    controller.invalidateTestResults(changed.map(({ item }) => item));
  };
  const items = new TestItems(controller, environments, republish);

  const judges = new Judges(config, context.secrets);
  const shared = { server, config, results, publisher, judges, showError, tools };
  const running =
    (name: string, work: typeof executeTasks) =>
    async (request: vscode.TestRunRequest): Promise<void> => {
      if (!trusted(showError)) return;
      const tasks = await items.tasksOf(request);
      const run = controller.createTestRun(request, name);
      try {
        await work(run, tasks, shared);
      } finally {
        run.end();
      }
    };
  const rehearse = running('Rehearse', rehearseTasks);
  const execution = running('Execute', executeTasks);
  const comparison = running('Compare', compareTasks);
  const debug = async (request: vscode.TestRunRequest, token: vscode.CancellationToken) => {
    if (!trusted(showError)) return;
    for (const { loaded, task } of await items.tasksOf(request)) {
      if (token.isCancellationRequested) return;
      await untilTerminated(() => session.start({ file: loaded.file, task: task.id }), token);
    }
  };
  const profile = controller.createRunProfile('Rehearse', vscode.TestRunProfileKind.Run, rehearse, true);
  profile.configureHandler = () => void chooseAttempts(config);
  const { Run, Debug } = vscode.TestRunProfileKind;
  const execute = controller.createRunProfile('Execute', Run, execution);
  execute.configureHandler = () => void chooseAttempts(config);
  const compare = controller.createRunProfile('Compare', Run, comparison);
  controller.createRunProfile('Debug', Debug, debug, true);

  /** Runs the tasks that a command is about, with a profile. */
  const byCommand =
    (of: vscode.TestRunProfile, work: (request: vscode.TestRunRequest) => Promise<void>) =>
    async (argument: unknown): Promise<void> => {
      if (!trusted(showError)) return;
      const target = await chooseTarget(targetOf(argument), environments);
      if (!target) return;
      const include = target.file === undefined ? undefined : await items.itemsOf(target.file, target.task);
      if (include?.length === 0) {
        return showError(
          new UserError(
            'There is no task to run here.',
            'Correct the problems of the environment file first.',
          ),
        );
      }
      await work(new vscode.TestRunRequest(include, undefined, of));
    };

  context.subscriptions.push(
    controller,
    items,
    vscode.commands.registerCommand(Command.runTasks, byCommand(profile, rehearse)),
    vscode.commands.registerCommand(Command.executeTasks, byCommand(execute, execution)),
    vscode.commands.registerCommand(Command.compareTasks, byCommand(compare, comparison)),
    vscode.commands.registerCommand(Command.openSessionAtTurn, async (argument: unknown) => {
      const place = publisher.placeOf(argument);
      if (place) await session.open(place.session, place.turn).catch(showError);
    }),
  );
}

/** Asks only where there are several environments. A target without a file means all of them. */
async function chooseTarget(target: Target, environments: EnvironmentStore): Promise<Target | undefined> {
  if (target.file !== undefined) return target;
  const files = await environments.files();
  if (files.length <= 1) return { file: files[0] };
  const picks = files.map((file) => ({ label: vscode.workspace.asRelativePath(file), target: { file } }));
  const all = { label: 'All environments', target: {} };
  const placeHolder = 'Tasks of which environment?';
  return (
    await vscode.window.showQuickPick<{ label: string; target: Target }>([all, ...picks], { placeHolder })
  )?.target;
}

async function chooseAttempts(config: Config): Promise<void> {
  const picks = [1, 2, 4, 8, 16].map((attempts) => ({
    label: attempts === 1 ? '1 attempt' : `${attempts} attempts`,
    description: attempts === config.testAttempts ? 'current' : '',
    attempts,
  }));
  const picked = await vscode.window.showQuickPick(picks, {
    placeHolder: 'How often is each task rehearsed?',
  });
  if (picked) await config.setTestAttempts(picked.attempts);
}

function trusted(showError: (error: unknown) => void): boolean {
  if (!vscode.workspace.isTrusted) showError(notTrusted());
  return vscode.workspace.isTrusted;
}

/** One debug session after the other. */
async function untilTerminated(start: () => Promise<void>, token: vscode.CancellationToken): Promise<void> {
  let stopListening = () => {};
  const ended = new Promise<void>((resolve) => {
    const listeners = [
      vscode.debug.onDidTerminateDebugSession(({ type }) => type === DEBUG_TYPE && resolve()),
      token.onCancellationRequested(() => resolve()),
    ];
    stopListening = () => vscode.Disposable.from(...listeners).dispose();
  });
  try {
    await start();
    if (vscode.debug.activeDebugSession?.type === DEBUG_TYPE) await ended;
  } finally {
    stopListening();
  }
}
