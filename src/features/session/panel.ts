/** The session panel's host: shows one live session each, and turns its messages into gestures. */
import * as vscode from 'vscode';
import type { FromSession } from '../../../webview/common/messages';
import { isFromSession } from '../../../webview/common/validators.generated';
import { SESSION_PANEL } from '../ids';
import type { Services } from '../services';
import { SessionFeed } from './feed';
import type { LiveSession } from './live';
import { assetsOf, pageOf } from './page';

export interface PanelHost extends Pick<Services, 'context' | 'log' | 'runErrorAction' | 'showError'> {
  /** Makes sure that a debug session follows, so that both show the same position. */
  follow(live: LiveSession): Promise<void>;
  /** Ends the debug session that follows, if one does. */
  stop(live: LiveSession): Promise<void>;
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
    const feed = new SessionFeed(live, (message) => void webview.postMessage(message));
    const received = webview.onDidReceiveMessage((message: unknown) => {
      if (!isFromSession(message)) return log.warn('The session panel sent a message that is not known.');
      if (message.type === 'ready') return feed.start();
      this.receive(live, message).catch((error) => {
        // A node that is gone is no error of the person's; anything else is.
        if (error instanceof RangeError) log.warn(`session ${live.id}: ${error.message}`);
        else this.host.showError(error);
      });
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

  private async receive(live: LiveSession, message: Exclude<FromSession, { type: 'ready' }>): Promise<void> {
    if (message.type === 'action') return this.host.runErrorAction(message.id);
    if (message.type === 'step') {
      if (message.step === 'pause') return live.pause();
      if (message.step === 'stop') return this.host.stop(live);
    }
    await this.host.follow(live);
    switch (message.type) {
      case 'choose':
        return live.choose(message.node, message.id, 'panel');
      case 'again':
        return live.again(message.node, 'panel');
      case 'goto':
        return live.goto(message.node, 'panel');
    }
    switch (message.step) {
      case 'back':
        return live.back('panel');
      case 'restart':
        return live.restart('panel');
      case 'pause':
      case 'stop':
        return;
      default:
        return live.step(message.step, 'panel');
    }
  }
}
