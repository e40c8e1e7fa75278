/** The session panel's host: shows one live session each, and turns its messages into gestures. */
import * as vscode from 'vscode';
import type { FromSession, ToSession } from '../../../webview/common/messages';
import { isFromSession } from '../../../webview/common/validators.generated';
import { twoBranches } from '../../core/rehearsal/two-branches';
import { SESSION_PANEL } from '../ids';
import { assetsOf, pageOf } from '../page';
import type { Services } from '../services';
import { SessionFeed } from './feed';
import type { LiveSession } from './live';

export interface PanelHost extends Pick<Services, 'context' | 'log' | 'runErrorAction' | 'showError'> {
  /** Makes sure that a debug session follows, so that both show the same position. */
  follow(live: LiveSession): Promise<void>;
  /** Ends the debug session that follows, if one does. */
  stop(live: LiveSession): Promise<void>;
  /** Opens the whole of the other answer at a node. */
  openAnswer(live: LiveSession, node: number): Promise<void>;
  /** Opens both answers at a node in VS Code's own diff. */
  openDiff(live: LiveSession, node: number): Promise<void>;
  /** The panel was closed. */
  closed(live: LiveSession): void;
}

export class Panels {
  private readonly panels = new Map<LiveSession, vscode.WebviewPanel>();

  constructor(private readonly host: PanelHost) {}

  has(live: LiveSession): boolean {
    return this.panels.has(live);
  }

  /** The session whose panel the person looks at, if any. */
  get active(): LiveSession | undefined {
    return [...this.panels].find(([, panel]) => panel.active)?.[0];
  }

  /** Where the panel is, for what opens beside it. */
  columnOf(live: LiveSession): vscode.ViewColumn | undefined {
    return this.panels.get(live)?.viewColumn;
  }

  show(live: LiveSession): void {
    const known = this.panels.get(live);
    if (known) {
      known.reveal(known.viewColumn);
      return;
    }
    const column = vscode.window.activeTextEditor?.viewColumn ?? vscode.ViewColumn.One;
    const panel = vscode.window.createWebviewPanel(SESSION_PANEL, '', column, this.options);
    this.fill(live, panel);
  }

  /** Fills a panel: a new one, or one that was open when the window was closed. */
  fill(live: LiveSession, panel: vscode.WebviewPanel): void {
    const { context, log } = this.host;
    const { webview } = panel;
    webview.options = this.options;
    panel.title = `Session: ${live.session.setup.task.id}`;
    const icon = vscode.Uri.joinPath(context.extensionUri, 'media', 'icons');
    panel.iconPath = {
      light: vscode.Uri.joinPath(icon, 'session-light.svg'),
      dark: vscode.Uri.joinPath(icon, 'session-dark.svg'),
    };
    const post = (message: ToSession) => void webview.postMessage(message);
    const feed = new SessionFeed(live, post);
    // One after another, as the person made them: a debug session that has to start first takes a while.
    let before: Promise<void> = Promise.resolve();
    const received = webview.onDidReceiveMessage((message: unknown) => {
      if (!isFromSession(message)) return log.warn('The session panel sent a message that is not known.');
      if (message.type === 'ready') return feed.start();
      if (isUrgent(message)) void this.reporting(live, () => this.receiveUrgent(live, message));
      else before = before.then(() => this.reporting(live, () => this.receive(live, message, post)));
    });
    this.panels.set(live, panel);
    panel.onDidDispose(() => {
      feed.dispose();
      received.dispose();
      this.panels.delete(live);
      this.host.closed(live);
    });
    const { extensionUri: extension } = context;
    const data = { session: live.file };
    webview.html = pageOf({ webview, extension, bundle: 'session', title: panel.title, data });
  }

  private get options(): vscode.WebviewOptions {
    return { enableScripts: true, localResourceRoots: [assetsOf(this.host.context.extensionUri)] };
  }

  /** Never rejects: what goes wrong is told to the person. */
  private async reporting(live: LiveSession, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      // A node that is gone is no error of the person's; anything else is.
      if (error instanceof RangeError) this.host.log.warn(`session ${live.id}: ${error.message}`);
      else this.host.showError(error);
    }
  }

  private async receiveUrgent(live: LiveSession, message: Urgent): Promise<void> {
    if (message.type === 'cancel') return live.beside.cancel(message.node);
    if (message.type === 'action') return this.host.runErrorAction(message.id);
    return message.step === 'pause' ? live.pause() : this.host.stop(live);
  }

  /** Resolves when the next message may be acted upon: what runs for long has begun then, and can be paused. */
  private async receive(
    live: LiveSession,
    message: Exclude<Message, Urgent>,
    post: (message: ToSession) => void,
  ): Promise<void> {
    await this.host.follow(live);
    switch (message.type) {
      case 'choose':
        return live.choose(message.node, message.id, 'panel');
      case 'goto':
        return live.goto(message.node, 'panel');
      case 'again':
        void this.reporting(live, () => live.again(message.node, 'panel'));
        return;
      case 'observations':
        live.observations = message.from;
        return;
      case 'execute':
        void this.reporting(live, () => live.beside.execute(message.node));
        return;
      case 'compare':
        void this.reporting(live, () => live.beside.compare(message.node));
        return;
      case 'score':
        void this.reporting(live, () => live.beside.score(message.node));
        return;
      case 'take':
        return live.take(message.node, 'panel');
      case 'openAnswer':
        return this.host.openAnswer(live, message.node);
      case 'openDiff':
        return this.host.openDiff(live, message.node);
      case 'runForReal':
        void this.reporting(live, async () => {
          const tips = await live.runForReal('panel');
          if (tips) post({ type: 'branches', view: twoBranches(live.session, tips.rehearsed, tips.real) });
        });
        return;
      case 'compareBranches':
        post({ type: 'branches', view: twoBranches(live.session, message.left, message.right) });
        return;
    }
    switch (message.step) {
      case 'back':
        return live.back('panel');
      case 'restart':
        return live.restart('panel');
      case 'pause':
      case 'stop':
        return;
      default: {
        const { step } = message;
        void this.reporting(live, () => live.step(step, 'panel'));
      }
    }
  }
}

type Message = Exclude<FromSession, { type: 'ready' }>;
type Step = Extract<Message, { type: 'step' }>;
/** Acted upon at once, whatever else is still to be done. */
type Urgent =
  | (Step & { step: 'pause' | 'stop' })
  | Extract<Message, { type: 'action' }>
  | Extract<Message, { type: 'cancel' }>;

function isUrgent(message: Message): message is Urgent {
  const { type } = message;
  return (
    type === 'action' ||
    type === 'cancel' ||
    (type === 'step' && (message.step === 'pause' || message.step === 'stop'))
  );
}
