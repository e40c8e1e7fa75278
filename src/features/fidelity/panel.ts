/** The compare page's host: shows one comparison each, and turns its messages into what a person asked for. */
import fs from 'node:fs';
import * as vscode from 'vscode';
import type { FromCompare, ToCompare } from '../../../webview/common/compare';
import { isFromCompare } from '../../../webview/common/compare-validators.generated';
import { pageColumn } from '../columns';
import { COMPARE_PANEL } from '../ids';
import { assetsOf, pageOf } from '../page';
import type { Services } from '../services';
import { CompareFeed } from './feed';
import type { LiveComparison } from './live';

type Act = Exclude<FromCompare, { type: 'ready' | 'filter' | 'pair' | 'cancel' | 'action' }>;

export interface ComparePanelHost extends Pick<Services, 'context' | 'log' | 'runErrorAction' | 'showError'> {
  /** What a page asked for beyond what it shows. */
  act(live: LiveComparison, message: Act, column: vscode.ViewColumn): Promise<void>;
  /** Nobody looks at it any more. */
  closed(live: LiveComparison): void;
}

interface Shown {
  panel: vscode.WebviewPanel;
  feed: CompareFeed;
}

export class ComparePanels {
  private readonly shown = new Set<Shown>();

  constructor(private readonly host: ComparePanelHost) {}

  /** Shows a comparison: in its own page, in that of `instead`, or in a new one. */
  show(live: LiveComparison, instead?: LiveComparison): void {
    const known = this.of(live) ?? (instead && this.of(instead));
    if (known) {
      if (known.feed.live !== live) this.fill(known, live);
      known.panel.reveal(known.panel.viewColumn);
      return;
    }
    const panel = vscode.window.createWebviewPanel(COMPARE_PANEL, '', pageColumn(), this.options);
    this.attach(live, panel);
  }

  /** The comparison whose page the person looks at. */
  get active(): LiveComparison | undefined {
    return [...this.shown].find(({ panel }) => panel.active)?.feed.live;
  }

  /** Fills a panel: a new one, or one that was open when the window was closed. */
  attach(live: LiveComparison, panel: vscode.WebviewPanel): void {
    const { webview } = panel;
    webview.options = this.options;
    const { extensionUri: extension } = this.host.context;
    const icon = vscode.Uri.joinPath(extension, 'media', 'icons');
    panel.iconPath = {
      light: vscode.Uri.joinPath(icon, 'compare-light.svg'),
      dark: vscode.Uri.joinPath(icon, 'compare-dark.svg'),
    };
    const shown: Shown = { panel, feed: this.feedOf(live, webview) };
    this.shown.add(shown);
    const received = webview.onDidReceiveMessage((message: unknown) => void this.receive(shown, message));
    panel.onDidDispose(() => {
      shown.feed.dispose();
      received.dispose();
      this.shown.delete(shown);
      this.host.closed(shown.feed.live);
    });
    panel.title = titleOf(live);
    webview.html = pageOf({
      webview,
      extension,
      bundle: 'compare',
      title: panel.title,
      data: { file: live.file },
    });
  }

  private fill(shown: Shown, live: LiveComparison): void {
    const before = shown.feed.live;
    shown.feed.dispose();
    shown.panel.title = titleOf(live);
    shown.feed = this.feedOf(live, shown.panel.webview);
    this.host.closed(before);
    const { webview } = shown.panel;
    const { extensionUri: extension } = this.host.context;
    webview.html = pageOf({
      webview,
      extension,
      bundle: 'compare',
      title: shown.panel.title,
      data: { file: live.file },
    });
  }

  private of(live: LiveComparison): Shown | undefined {
    return [...this.shown].find(({ feed }) => feed.live === live);
  }

  private feedOf(live: LiveComparison, webview: vscode.Webview): CompareFeed {
    const post = (message: ToCompare) => void webview.postMessage(message);
    return new CompareFeed(live, post, () =>
      fs.existsSync(live.environmentFile) ? null : 'The environment file is not there any more.',
    );
  }

  private get options(): vscode.WebviewOptions & vscode.WebviewPanelOptions {
    return { enableScripts: true, localResourceRoots: [assetsOf(this.host.context.extensionUri)] };
  }

  private async receive(shown: Shown, message: unknown): Promise<void> {
    const { log, showError, runErrorAction } = this.host;
    if (!isFromCompare(message)) return log.warn('The compare page sent a message that is not known.');
    const { feed, panel } = shown;
    try {
      if (message.type === 'ready') await feed.start();
      else if (message.type === 'cancel') feed.live.cancel();
      else if (message.type === 'action') await runErrorAction(message.id);
      else if (message.type === 'filter' || message.type === 'pair') feed.receive(message);
      else await this.host.act(feed.live, message, panel.viewColumn ?? vscode.ViewColumn.Active);
    } catch (error) {
      showError(error);
    }
  }
}

function titleOf({ head }: LiveComparison): string {
  return `Compare: ${head.environment}, ${head.what}`;
}
