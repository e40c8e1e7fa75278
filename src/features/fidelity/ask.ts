/** What to compare: told by where the command was called, and asked for only where it cannot be told. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { Environment } from '../../core/environment/types';
import { UserError } from '../../core/user-error';
import { stepsOf } from '../../node/fidelity/compare';
import { comparisonsFolder, listComparisons } from '../../node/fidelity/file';
import { type CompareRequest, comparableRecords } from '../../node/fidelity/request';
import { loadSession, sessionsFolder } from '../../node/sessions/file';
import { listSessions } from '../../node/sessions/list';
import type { EnvironmentStore } from '../environments/store';
import { targetOf } from '../environments/target';
import { usable } from '../environments/usable';

/** What a row, a button or a link may say. */
interface Given {
  file?: string;
  task?: string;
  session?: string;
  /** 1-based turn and 0-based call in it; absent for all calls of the session. */
  turn?: number;
  call?: number;
}

export interface Choice {
  file: string;
  environment: Environment;
  request: CompareRequest;
}

export function givenBy(argument: unknown): Given {
  if (typeof argument === 'object' && argument !== null && !(argument instanceof vscode.Uri)) {
    const { kind, path: file, session, turn, call } = argument as { [name: string]: unknown };
    const saved = kind === 'session' ? file : session;
    if (typeof saved === 'string') {
      return {
        session: saved,
        ...(typeof turn === 'number' && { turn }),
        ...(typeof call === 'number' && { call }),
      };
    }
  }
  return targetOf(argument);
}

/** Undefined where the person turned away. Throws `UserError` where there is nothing to compare. */
export async function choose(given: Given, environments: EnvironmentStore): Promise<Choice | undefined> {
  if (given.session !== undefined) return ofSession(given.session, given, environments);
  const file = given.file ?? (await chooseFile(environments));
  if (file === undefined) return undefined;
  const environment = usable(await environments.load(file));
  if (given.task !== undefined) return { file, environment, request: { kind: 'tasks', tasks: [given.task] } };
  const picked = await chooseRequest(file, environment);
  if (!picked) return undefined;
  return picked.kind === 'session'
    ? ofSession(picked.session, {}, environments)
    : { file, environment, request: picked };
}

async function chooseFile(environments: EnvironmentStore): Promise<string | undefined> {
  const files = await environments.files();
  if (files.length === 0) {
    throw new UserError('There is no environment in this workspace.', 'Open the examples, or write one.', {
      title: 'Open Examples…',
      id: 'rehearsal.openExamples',
    });
  }
  if (files.length === 1) return files[0];
  const picks = files.map((file) => ({
    label: path.basename(file, '.rehearsal.json'),
    description: vscode.workspace.asRelativePath(file),
    file,
  }));
  return (
    await vscode.window.showQuickPick(picks, {
      title: 'Compare With Real Tools',
      placeHolder: 'Which environment?',
    })
  )?.file;
}

type Pick = vscode.QuickPickItem & { request?: CompareRequest };

async function chooseRequest(file: string, environment: Environment): Promise<CompareRequest | undefined> {
  const picks = picksOf(file, environment);
  if (picks.length === 0) {
    throw new UserError(
      `${environment.name} has neither recorded calls nor tasks.`,
      'Add one of them first.',
    );
  }
  const only = picks.filter(({ request }) => request);
  if (only.length === 1) return only[0]!.request;
  const picked = await vscode.window.showQuickPick(picks, {
    title: `Compare With Real Tools: ${environment.name}`,
    placeHolder: 'What is compared?',
    matchOnDescription: true,
  });
  return picked?.request;
}

function picksOf(file: string, environment: Environment): Pick[] {
  const heading = (label: string): Pick => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const all = comparableRecords(environment, 'all').length;
  const held = comparableRecords(environment, 'held-out').length;
  const executes = environment.executor !== undefined;
  const records = (part: 'held-out' | 'all', n: number, execute: boolean): Pick => ({
    label: `${part === 'all' ? 'All recorded calls' : 'Held-out recorded calls'}${execute ? ', executed now' : ''}`,
    description: `${n} ${n === 1 ? 'call' : 'calls'}`,
    detail: execute ? 'Asks the real tools again' : 'Takes the recorded answers: nothing is executed',
    request: { kind: 'records', part, execute },
  });
  const recorded = [
    ...(held ? [records('held-out', held, false)] : []),
    ...(all > held ? [records('all', all, false)] : []),
    ...(all && executes ? [records('all', all, true)] : []),
  ];
  const { tasks } = environment;
  const task = (id: string, instruction: string): Pick => ({
    label: id,
    detail: instruction.slice(0, 160),
    request: { kind: 'tasks', tasks: [id] },
  });
  const ofTasks = executes
    ? [
        ...(tasks.length > 1
          ? [
              {
                label: 'All tasks',
                description: `${tasks.length} tasks`,
                detail: 'Rehearses each, then executes its calls',
                request: { kind: 'tasks' as const, tasks: null },
              },
            ]
          : []),
        ...tasks.map(({ id, instruction }) => task(id, instruction)),
      ]
    : [];
  const sessions = executes ? savedOf(file, environment.name) : [];
  return [
    ...(recorded.length ? [heading('Recorded calls'), ...recorded] : []),
    ...(ofTasks.length ? [heading('Tasks'), ...ofTasks] : []),
    ...(sessions.length ? [heading('Saved sessions'), ...sessions] : []),
  ];
}

const SHOWN_SESSIONS = 20;

function savedOf(file: string, name: string): Pick[] {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file))?.uri.fsPath ?? path.dirname(file);
  return listSessions(sessionsFolder(folder))
    .sessions.filter(({ environment }) => environment === name)
    .slice(0, SHOWN_SESSIONS)
    .map(({ path: session, task, created, model }) => ({
      label: task,
      description: `${new Date(created).toLocaleString()}, ${model}`,
      request: { kind: 'session', session },
    }));
}

async function ofSession(
  session: string,
  { turn, call }: Given,
  environments: EnvironmentStore,
): Promise<Choice> {
  const { header, session: loaded } = loadSession(session);
  if (!header.environmentFile) {
    throw new UserError(
      'This session does not say which environment file it is of.',
      'Compare the task itself.',
    );
  }
  const file = path.resolve(path.dirname(session), '../..', header.environmentFile);
  const environment = usable(await environments.load(file));
  if (turn === undefined) return { file, environment, request: { kind: 'session', session } };
  const step = loaded.tip.state.turns[turn - 1]?.calls[call ?? 0];
  const place = step ? stepsOf(loaded.tip.state).indexOf(step) : -1;
  if (place < 0) throw new UserError('This call has no answer yet.', 'Step it to its end, and compare then.');
  return { file, environment, request: { kind: 'session', session, call: place } };
}

/** A saved comparison of the workspace. */
export async function pickComparison(): Promise<string | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const saved = folders.flatMap(({ uri }) => listComparisons(comparisonsFolder(uri.fsPath)));
  if (saved.length === 0) {
    throw new UserError(
      'Nothing was compared in this workspace yet.',
      'Compare with Rehearsal: Compare With Real Tools.',
    );
  }
  const items = saved
    .sort((a, b) => b.head.created.localeCompare(a.head.created))
    .map(({ file, head }) => ({
      label: head.environment,
      description: head.what,
      detail: new Date(head.created).toLocaleString(),
      file,
    }));
  return (
    await vscode.window.showQuickPick(items, {
      title: 'Open Comparison',
      placeHolder: 'Which comparison?',
      matchOnDescription: true,
    })
  )?.file;
}

/** Connects behind a notification; undefined where the person turned away. */
export async function connecting<T>(connect: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: 'Rehearsal: connecting to the model',
    cancellable: true,
  };
  return vscode.window.withProgress(options, async (_, token) => {
    const abort = new AbortController();
    token.onCancellationRequested(() => abort.abort());
    try {
      return await connect(abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return undefined;
      throw error;
    }
  });
}
