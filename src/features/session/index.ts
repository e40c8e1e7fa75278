/** Rehearsal sessions: their panel and transcript, and the commands that open them. The debugger follows them. */
import * as vscode from 'vscode';
import { UserError } from '../../core/user-error';
import { sessionsFolder } from '../../node/sessions/file';
import { listSessions, type SessionSummary } from '../../node/sessions/list';
import { folderOf } from '../environments/folder';
import { targetOf } from '../environments/target';
import { Command, ContextKey, DEBUG_TYPE, SESSION_PANEL } from '../ids';
import type { Services, SessionFeature, StartRequest } from '../services';
import { openAnswer, openDiff } from './answers';
import type { LiveSession } from './live';
import { Panels } from './panel';
import { turnStart } from './places';
import { Sessions } from './sessions';
import { Transcripts } from './transcript';

const PAUSE_MS = 400;

/** What the debugger needs of this feature. */
export interface SessionParts {
  sessions: Sessions;
  transcripts: Transcripts;
  /** Shows panel and transcript of a session. */
  reveal(live: LiveSession): Promise<void>;
  /** Debug sessions by the live session that each follows; the debugger keeps this. */
  followers: Map<LiveSession, vscode.DebugSession>;
  /** Resolves once the debugger follows this session and has set its breakpoints. */
  followed(live: LiveSession): void;
  /** The debugger follows this session no more. */
  left(live: LiveSession): void;
}

export function registerSession(services: Services): SessionFeature & SessionParts {
  const { context } = services;
  const feature = new Feature(services);
  const run = (action: Promise<unknown>) => action.catch((error) => services.showError(error));
  context.subscriptions.push(
    feature,
    vscode.window.registerWebviewPanelSerializer(SESSION_PANEL, {
      deserializeWebviewPanel: (panel, state) => feature.restore(panel, state),
    }),
    vscode.commands.registerCommand(Command.startSession, (argument) =>
      run(feature.start(targetOf(argument))),
    ),
    vscode.commands.registerCommand(Command.runSession, (argument) => {
      return run(feature.start({ ...targetOf(argument), noDebug: true }));
    }),
    vscode.commands.registerCommand(Command.startRealSession, (argument) =>
      run(feature.start({ ...targetOf(argument), observations: 'real' })),
    ),
    vscode.commands.registerCommand(Command.openSession, (argument) => run(feature.openOne(argument))),
    vscode.commands.registerCommand(Command.showPanel, () => run(feature.showCurrent('panel'))),
    vscode.commands.registerCommand(Command.showTranscript, () => run(feature.showCurrent('transcript'))),
    vscode.commands.registerCommand(Command.stepBack, () => run(feature.withCurrent((live) => live.back()))),
    vscode.commands.registerCommand(Command.restartTask, () =>
      run(feature.withCurrent((live) => live.restart())),
    ),
  );
  return feature;
}

class Feature implements SessionFeature, SessionParts, vscode.Disposable {
  readonly sessions: Sessions;
  readonly transcripts = new Transcripts();
  readonly followers = new Map<LiveSession, vscode.DebugSession>();
  private readonly panels: Panels;
  private readonly waiting = new Map<LiveSession, () => void>();
  private timer: NodeJS.Timeout | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeSessions = this.changed.event;

  constructor(private readonly services: Services) {
    this.sessions = new Sessions({ ...services, folderOf });
    this.sessions.on('change', () => this.soon());
    this.panels = new Panels({
      ...services,
      follow: (live) => this.follow(live),
      stop: (live) => this.stop(live),
      openAnswer,
      openDiff: (live, node) => openDiff(services.diffs, live, node),
      closed: (live) => this.release(live),
    });
  }

  /** Whoever lists sessions reads their files: not at each of many steps. */
  private soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void vscode.commands.executeCommand('setContext', ContextKey.hasSession, this.sessions.all.length > 0);
      this.changed.fire();
    }, PAUSE_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.transcripts.dispose();
    this.changed.dispose();
    void this.sessions.closeAll();
  }

  async start({ file, noDebug, ...request }: StartRequest = {}): Promise<void> {
    const folder = file ? vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file)) : undefined;
    const verb = request.observations === 'real' ? 'Execute' : 'Rehearse';
    const name = request.task ? `${verb} ${request.task}` : verb;
    const configuration = {
      type: DEBUG_TYPE,
      request: 'launch',
      name,
      ...(file && { program: file }),
      ...request,
    };
    await vscode.debug.startDebugging(folder, configuration, { noDebug: noDebug ?? false });
  }

  async open(file: string, turn?: number): Promise<void> {
    const live = await this.sessions.open(file);
    // Before anybody sees it, so that what is shown first is the place that was asked for.
    const node = turn === undefined ? undefined : turnStart(live.session, turn);
    if (node !== undefined) await live.goto(node, 'panel');
    await this.follow(live);
    await this.reveal(live);
  }

  /** Opens the session a command was given, or asks which. */
  async openOne(argument: unknown): Promise<void> {
    const given =
      typeof argument === 'string' ? argument : (argument as { path?: unknown } | undefined)?.path;
    const file = typeof given === 'string' ? given : await pickSession();
    if (file) await this.open(file);
  }

  /** A panel that was open when the window was closed. */
  async restore(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const file = (state as { session?: unknown } | null)?.session;
    try {
      if (typeof file !== 'string')
        throw new UserError('This session panel names no session.', 'Open it again from the Sessions view.');
      const live = await this.sessions.open(file);
      if (this.panels.has(live)) return panel.dispose();
      this.transcripts.follow(live);
      this.panels.fill(live, panel);
      // VS Code brings its tab back only where somebody could say what is in it at that time.
      await this.transcripts.show(live, columnOfTab(panel.title) + 1);
    } catch (error) {
      panel.dispose();
      this.services.showError(error);
    }
  }

  /** Panel where the person is, transcript beside it; neither is opened twice. */
  async reveal(live: LiveSession): Promise<void> {
    this.transcripts.follow(live);
    const isAlone = vscode.window.tabGroups.all.length === 1;
    this.panels.show(live);
    const column = (this.panels.columnOf(live) ?? vscode.ViewColumn.One) + 1;
    await this.transcripts.show(live, column);
    // The panel needs the width; a layout that the person made is left alone.
    if (isAlone) {
      const groups = [{ size: 0.68 }, { size: 0.32 }];
      await vscode.commands.executeCommand('vscode.setEditorLayout', { orientation: 0, groups });
    }
    this.panels.show(live);
  }

  followed(live: LiveSession): void {
    this.waiting.get(live)?.();
  }

  left(live: LiveSession): void {
    this.followers.delete(live);
    this.waiting.get(live)?.();
    if (!this.panels.has(live)) void this.sessions.close(live);
  }

  async showCurrent(what: 'panel' | 'transcript'): Promise<void> {
    const live = this.current();
    if (!live) throw new UserError('No rehearsal session is open.', 'Start one, or open a saved one.');
    this.transcripts.follow(live);
    if (what === 'panel') this.panels.show(live);
    else await this.transcripts.show(live, vscode.ViewColumn.Beside);
  }

  async withCurrent(action: (live: LiveSession) => Promise<void>): Promise<void> {
    const live = this.current();
    if (live) await action(live);
  }

  /** The session the person is most likely to mean. */
  private current(): LiveSession | undefined {
    const { activeDebugSession } = vscode.debug;
    const debugged = [...this.followers].find(([, session]) => session.id === activeDebugSession?.id)?.[0];
    return this.panels.active ?? debugged ?? this.sessions.all.at(-1);
  }

  /** Starts a debug session for what the panel shows alone, so that both move together. */
  private async follow(live: LiveSession): Promise<void> {
    if (this.followers.has(live)) return;
    const ready = new Promise<void>((ok) => this.waiting.set(live, ok));
    const name = `Rehearse ${live.session.setup.task.id}`;
    const configuration = {
      type: DEBUG_TYPE,
      request: 'launch',
      name,
      session: live.file,
      stopOnEntry: true,
    };
    const hasStarted = await vscode.debug.startDebugging(undefined, configuration);
    if (hasStarted) await ready;
    this.waiting.delete(live);
  }

  private async stop(live: LiveSession): Promise<void> {
    const session = this.followers.get(live);
    if (session) await vscode.debug.stopDebugging(session);
    else await live.pause();
  }

  private release(live: LiveSession): void {
    if (!this.followers.has(live)) void this.sessions.close(live);
  }
}

async function pickSession(): Promise<string | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const saved = folders.flatMap(({ uri }) => listSessions(sessionsFolder(uri.fsPath)).sessions);
  if (saved.length === 0) {
    throw new UserError(
      'This workspace has no saved sessions.',
      'Start one with Rehearsal: Start Rehearsal Session.',
    );
  }
  const items = saved.map((summary) => ({ ...itemOf(summary), file: summary.path }));
  const picked = await vscode.window.showQuickPick(items, {
    title: 'Open Session',
    placeHolder: 'Which session?',
    matchOnDescription: true,
  });
  return picked?.file;
}

function itemOf({
  task,
  environment,
  model,
  created,
  reward,
  done,
  tokens,
}: SessionSummary): vscode.QuickPickItem {
  const result = done ? (reward === null ? 'no reward' : `reward ${reward.toFixed(2)}`) : 'not at its end';
  return {
    label: task,
    description: `${environment}, ${model}`,
    detail: `${new Date(created).toLocaleString()} · ${tokens} tokens · ${result}`,
  };
}

/** Where a panel stands: while it is being restored, its own `viewColumn` is not yet right. */
function columnOfTab(title: string): vscode.ViewColumn {
  const isIt = ({ label, input }: vscode.Tab) => label === title && input instanceof vscode.TabInputWebview;
  const group = vscode.window.tabGroups.all.find(({ tabs }) => tabs.some(isIt));
  return group?.viewColumn ?? vscode.ViewColumn.One;
}
