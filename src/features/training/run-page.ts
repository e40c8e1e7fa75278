/** The page of a run, on the host's side: one panel for each run, that follows the server through its restarts. */
import * as vscode from 'vscode';
import type { FromTraining, Notice, RunChoice, ToTraining } from '../../../webview/common/training';
import { isFromTraining } from '../../../webview/common/training-validators.generated';
import type { Metrics, RunStatus } from '../../core/training/run.types';
import type { RunConfig } from '../../core/training/types';
import { noticeOf, UserError } from '../../core/user-error';
import { pageColumn } from '../columns';
import { Command, TRAINING_PANEL } from '../ids';
import { assetsOf, pageOf } from '../page';
import type { Services } from '../services';
import type { RunActions } from './actions';
import { comparisonView, evaluatedSteps } from './comparison';
import { factsOf } from './facts';
import { groupViews, type Listed, rolloutDetail } from './rollouts';
import type { Runs } from './runs';
import { viewOfSession } from './session';

export interface RunPageHost extends Pick<Services, 'context' | 'log' | 'showError' | 'runErrorAction'> {
  runs: Runs;
  actions: RunActions;
}

export class RunPages implements vscode.WebviewPanelSerializer {
  private readonly panels = new Map<string, { panel: vscode.WebviewPanel; page: RunPage }>();

  constructor(private readonly host: RunPageHost) {}

  /** @param compare with the comparison of two checkpoints open */
  show(run: RunStatus, compare = false): void {
    const known = this.panels.get(run.id);
    if (known) {
      known.panel.reveal(known.panel.viewColumn);
      if (compare) known.page.openCompare();
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      TRAINING_PANEL,
      `Run: ${run.name}`,
      pageColumn(),
      this.options,
    );
    const page = this.fill(run.id, panel);
    if (compare) page.openCompare();
  }

  /** A page that was open when the window was closed. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const run = (state as { run?: unknown } | null)?.run;
    if (typeof run !== 'string' || this.panels.has(run)) return panel.dispose();
    this.fill(run, panel);
  }

  /** The run is no more. */
  close(run: string): void {
    this.panels.get(run)?.panel.dispose();
  }

  private get options(): vscode.WebviewOptions & vscode.WebviewPanelOptions {
    return {
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [assetsOf(this.host.context.extensionUri)],
    };
  }

  private fill(run: string, panel: vscode.WebviewPanel): RunPage {
    const { context } = this.host;
    panel.webview.options = this.options;
    const icons = vscode.Uri.joinPath(context.extensionUri, 'media', 'icons');
    panel.iconPath = {
      light: vscode.Uri.joinPath(icons, 'run-light.svg'),
      dark: vscode.Uri.joinPath(icons, 'run-dark.svg'),
    };
    const page = new RunPage(run, panel, this.host);
    this.panels.set(run, { panel, page });
    panel.onDidDispose(() => {
      page.dispose();
      this.panels.delete(run);
    });
    panel.webview.html = pageOf({
      webview: panel.webview,
      extension: context.extensionUri,
      bundle: 'training',
      title: panel.title,
      data: { run },
    });
    return page;
  }
}

class RunPage {
  private readonly abort = new AbortController();
  private readonly disposables: vscode.Disposable[];
  private config: Promise<RunConfig> | undefined;
  private metrics: Metrics[] = [];
  private status: RunStatus | null = null;
  private isReady = false;
  private isShown = false;
  private wantsCompare = false;
  /** Rollouts of the steps that were looked at, the newest last. */
  private readonly steps = new Map<number, Promise<Listed[]>>();

  constructor(
    private readonly run: string,
    private readonly panel: vscode.WebviewPanel,
    private readonly host: RunPageHost,
  ) {
    this.disposables = [
      panel.webview.onDidReceiveMessage((message: unknown) => {
        if (!isFromTraining(message))
          return host.log.warn('The training page sent a message that is not known.');
        void this.receive(message).catch((error) => this.fail(error));
      }),
      host.runs.onDidChange((change) => {
        if (change?.status.id !== this.run && this.isShown) void this.sendRuns();
      }),
    ];
  }

  openCompare(): void {
    this.wantsCompare = true;
    if (this.isShown) this.sendCompare();
  }

  dispose(): void {
    this.abort.abort();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async receive(message: FromTraining): Promise<void> {
    const { run } = this;
    const { actions, runs } = this.host;
    switch (message.type) {
      case 'ready':
        // A page that VS Code made anew asks again.
        if (this.isReady) return this.showAll();
        this.isReady = true;
        return this.follow();
      case 'stop':
        return actions.stop(run);
      case 'resume':
        return actions.resume(run);
      case 'keepBest':
        return actions.keepBest(run);
      case 'rollouts': {
        const rollouts = await this.rolloutsOf(message.step);
        return this.send({ type: 'rollouts', step: message.step, groups: groupViews(rollouts) });
      }
      case 'rollout':
        return this.showRollout(message.step, message.index);
      case 'debug': {
        const rollouts = await this.rolloutsOf(message.step);
        return actions.debug(run, rolloutAt(rollouts, message.index));
      }
      case 'overlay':
        return this.send({
          type: 'overlay',
          run: message.run,
          metrics: await runs.quiet.metrics(message.run),
        });
      case 'compare': {
        const [first, second] = await Promise.all([
          this.metricsOf(message.first.run),
          this.metricsOf(message.second.run),
        ]);
        return this.send({
          type: 'comparison',
          comparison: comparisonView(message.first, message.second, { first, second }),
        });
      }
      case 'checkpoint':
        return actions.checkpoint(run, message.step, message.do);
      case 'exportRollouts':
        return actions.exportRollouts(run);
      case 'action':
        return this.host.runErrorAction(message.id);
    }
  }

  /** Tells the page of the run until it is closed; the client finds the server again by itself. */
  private async follow(): Promise<void> {
    await this.host.runs.quiet.follow(this.run, {
      signal: this.abort.signal,
      onStatus: (status) => {
        this.status = status;
        this.panel.title = `Run: ${status.name}`;
        if (this.isShown) this.send({ type: 'status', status });
        else void this.showAll().catch((error) => this.fail(error));
      },
      onMetrics: (rows, from) => {
        this.metrics = [...this.metrics.slice(0, from), ...rows];
        for (const { step } of rows) this.steps.delete(step);
        if (rows.length > 0 && this.isShown) this.send({ type: 'metrics', metrics: rows });
      },
      onTrouble: (why) => this.send({ type: 'notice', notice: why === null ? null : lost(why) }),
    });
    // The stream has ended by itself: the run was deleted.
    if (!this.abort.signal.aborted) this.panel.dispose();
  }

  /** Everything: what a page needs first. */
  private async showAll(): Promise<void> {
    this.isShown = true;
    this.config ??= this.host.runs.quiet.config(this.run);
    const config = await this.config;
    const runs = await this.choices();
    const { status, metrics } = this;
    if (status) this.send({ type: 'run', status, facts: factsOf(config), metrics, runs });
    this.sendCompare();
  }

  private sendCompare(): void {
    if (this.wantsCompare) this.send({ type: 'openCompare' });
    this.wantsCompare = false;
  }

  private async showRollout(step: number, index: number): Promise<void> {
    const rollouts = await this.rolloutsOf(step);
    const rollout = rolloutAt(rollouts, index);
    const { text, checkpoint } = await this.host.runs.quiet.session(this.run, step, index);
    const detail = rolloutDetail(rollout, rollouts, viewOfSession(text), checkpoint);
    this.send({ type: 'rollout', detail });
  }

  private rolloutsOf(step: number): Promise<Listed[]> {
    const known = this.steps.get(step);
    if (known) return known;
    const asked = this.host.runs.quiet.rollouts(this.run, step);
    this.steps.set(step, asked);
    if (this.steps.size > 8) this.steps.delete(this.steps.keys().next().value!);
    asked.catch(() => this.steps.delete(step));
    return asked;
  }

  private async metricsOf(run: string): Promise<readonly Metrics[]> {
    return run === this.run ? this.metrics : this.host.runs.quiet.metrics(run);
  }

  private async sendRuns(): Promise<void> {
    this.send({ type: 'runs', runs: await this.choices() });
  }

  private async choices(): Promise<RunChoice[]> {
    return this.host.runs.all.map(({ id, name, state, variant, step, checkpoints }) => ({
      id,
      name: name === id ? name : `${name} (${id})`,
      state,
      variant,
      step,
      evaluated:
        id === this.run
          ? evaluatedSteps(this.metrics)
          : checkpoints.filter(({ success }) => success).map((checkpoint) => checkpoint.step),
    }));
  }

  private fail(error: unknown): void {
    if (this.abort.signal.aborted || error instanceof vscode.CancellationError) return;
    if (!(error instanceof UserError)) {
      this.host.showError(error);
      return;
    }
    this.send({ type: 'notice', notice: noticeOf(error) });
  }

  private send(message: ToTraining): void {
    if (!this.abort.signal.aborted) void this.panel.webview.postMessage(message);
  }
}

function rolloutAt(rollouts: readonly Listed[], index: number): Listed {
  const found = rollouts.find((rollout) => rollout.index === index);
  if (found) return found;
  throw new UserError(
    'This rollout is not there any more.',
    'Choose another; a run that was resumed samples its last steps again.',
  );
}

/** The run goes on without its window, and the page goes on by itself when the server is there again. */
function lost(why: string): Notice {
  const message = `${why} What is shown is the last that was heard of the run.`;
  return { message, action: { title: 'Start Server', id: Command.startServer } };
}
