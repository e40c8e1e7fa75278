/** Comparing with the real tools: the command, the page, the diff of a pair, verdicts, and what differs as diagnostics. */
import * as vscode from 'vscode';
import { verdictOf } from '../../core/fidelity/summary';
import { ExampleIndex } from '../../core/fidelity/view';
import { printable } from '../../core/text';
import { UserError } from '../../core/user-error';
import { targetsForAnother } from '../../node/fidelity/another-model';
import { conversationsOf } from '../../node/fidelity/conversations';
import { ComparisonWriter } from '../../node/fidelity/file';
import { askedFor, basisOf } from '../../node/fidelity/request';
import { gonePolicy } from '../../node/policies/gone';
import { withServerTools } from '../../node/tools/server-tools';
import type { EnvironmentStore } from '../environments/store';
import { usable } from '../environments/usable';
import { notTrusted } from '../errors';
import { COMPARE_PANEL, Command } from '../ids';
import type { Services, SessionFeature } from '../services';
import { type Choice, choose, connecting, givenBy, pickComparison } from './ask';
import { apply, ignoreEdit, recordEdit, verdictEdit } from './author';
import { Comparisons } from './comparisons';
import { Differences } from './differences';
import { exportTo } from './export';
import { noModelReason } from './feed';
import type { LiveComparison } from './live';
import { type ComparePanelHost, ComparePanels } from './panel';
import { compareModel } from './run';

export function registerFidelity(
  services: Services,
  environments: EnvironmentStore,
  session: SessionFeature,
): void {
  const { context } = services;
  const feature = new Feature(services, environments, session);
  const run = (action: Promise<unknown>) => action.catch((error) => services.showError(error));
  context.subscriptions.push(
    feature,
    vscode.window.registerWebviewPanelSerializer(COMPARE_PANEL, {
      deserializeWebviewPanel: (panel, state) => feature.restore(panel, state),
    }),
    vscode.commands.registerCommand(Command.compare, (argument) => run(feature.compare(argument))),
    vscode.commands.registerCommand(Command.openComparison, (argument) => run(feature.openOne(argument))),
  );
}

class Feature implements vscode.Disposable {
  private readonly comparisons: Comparisons;
  private readonly differences: Differences;
  private readonly panels: ComparePanels;
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly services: Services,
    private readonly environments: EnvironmentStore,
    private readonly session: SessionFeature,
  ) {
    this.comparisons = new Comparisons(environments, (live) => void this.judged(live));
    this.differences = new Differences(services.context.workspaceState, environments, (file) =>
      this.comparisons.open(file),
    );
    this.panels = new ComparePanels({
      ...services,
      act: (live, message, column) => this.act(live, message, column),
      closed: (live) => this.closed(live),
    });
    this.disposables = [this.differences, environments.onDidChange(() => void this.comparisons.judgeAll())];
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  async compare(argument: unknown): Promise<void> {
    if (!vscode.workspace.isTrusted) throw notTrusted();
    const choice = await choose(givenBy(argument), this.environments);
    if (choice) await this.begin(choice);
  }

  /** @param instead its page is used */
  private async begin(
    { file, environment: written, request }: Choice,
    instead?: LiveComparison,
  ): Promise<void> {
    const { server, settings, tools } = this.services;
    const asked = askedFor(written, request);
    let executor = asked.executes ? tools.executorFor(file, written, { batch: true }) : null;
    let environment = written;
    try {
      if (executor && written.tools.length === 0) {
        // Its server says which tools there are; then all of them are asked for at once.
        if (!(await executor.allow([]))) return;
        environment = await withServerTools(written, executor);
        await executor.close();
        executor = tools.executorFor(file, environment, { batch: true });
      }
      if (executor) {
        const called = environment.tools.filter(({ name }) => asked.tools?.includes(name) ?? true);
        if (!(await executor.allow(called))) return;
      }
      const policy = await connecting(async (signal) => {
        const made = asked.policy;
        if (!made || (await server.models()).includes(made.model))
          return server.connect(made?.model ?? settings.model(), signal);
        void vscode.window.showInformationMessage(withoutModel(made.model));
        return gonePolicy(made);
      });
      if (!policy) return;
      const head = { environment: environment.name, what: asked.what, request, basis: basisOf(environment) };
      const { live, writer } = this.comparisons.create(file, head);
      await live.judge(environment);
      this.panels.show(live, instead);
      const sampling = settings.sampling();
      await this.running(live, () =>
        compareModel(live, writer, { environment, targets: asked.targets, policy, executor, sampling }),
      );
    } finally {
      await executor?.close();
    }
  }

  /** Another model on the calls that were compared: their real answers are taken as they are. */
  private async addModel(live: LiveComparison): Promise<void> {
    const reason = noModelReason(live);
    if (reason) throw new UserError('No other model can be compared here.', reason);
    const { server, settings } = this.services;
    const offered = await server.models();
    const models = offered.filter((model) => !live.runs.some((run) => run.model === model));
    if (models.length === 0) {
      throw new UserError(
        offered.length === 1
          ? 'The server has one model only.'
          : 'Every model of the server is compared already.',
        'Start a server with several models (rehearsal serve --model NAME=PATH), or train one.',
      );
    }
    const model = await vscode.window.showQuickPick(models, {
      title: 'Compare Another Model on the Same Calls',
      placeHolder: 'Which model?',
    });
    if (model === undefined) return;
    const policy = await connecting((signal) => server.connect(model, signal));
    if (!policy) return;
    const environment = usable(await this.environments.load(live.environmentFile));
    const [first] = live.runs;
    const conversations = conversationsOf(live.file, live.head.request, first!);
    const targets = targetsForAnother(first!.pairs, { conversations });
    const writer = ComparisonWriter.open(live.file);
    const sampling = settings.sampling();
    await this.running(live, () =>
      compareModel(live, writer, { environment, targets, policy, executor: null, sampling }),
    );
  }

  /** In the status bar too; the page has the button that cancels. */
  private async running(live: LiveComparison, run: () => Promise<void>): Promise<void> {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: 'Rehearsal: comparing' },
      async (progress) => {
        const tell = () => progress.report({ message: live.progress });
        live.on('status', tell);
        await run().finally(() => live.off('status', tell));
      },
    );
    await this.comparisons.judge(live);
    const { environment } = await this.environments.load(live.environmentFile);
    if (environment) await this.differences.show(live, environment);
  }

  private async judged(live: LiveComparison): Promise<void> {
    const { environment } = await this.environments.load(live.environmentFile);
    if (environment && this.differences.isShown(live)) await this.differences.show(live, environment);
  }

  /** Who closes the page wants no more of it; what was compared is kept. */
  private closed(live: LiveComparison): void {
    live.cancel();
    if (!this.differences.isShown(live)) this.comparisons.release(live);
  }

  /** A page that was open when the window was closed. */
  async restore(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const file = (state as { file?: unknown } | null)?.file;
    try {
      if (typeof file !== 'string')
        throw new UserError(
          'This page names no comparison.',
          'Open it again with Rehearsal: Open Comparison….',
        );
      this.panels.attach(await this.comparisons.open(file), panel);
    } catch (error) {
      panel.dispose();
      this.services.showError(error);
    }
  }

  /** Opens the comparison a command was given, or asks which. */
  async openOne(argument: unknown): Promise<void> {
    const file = typeof argument === 'string' ? argument : await pickComparison();
    if (file) this.panels.show(await this.comparisons.open(file));
  }

  private async act(
    live: LiveComparison,
    message: Parameters<ComparePanelHost['act']>[1],
    column: vscode.ViewColumn,
  ): Promise<void> {
    const file = live.environmentFile;
    switch (message.type) {
      case 'again':
        if (!vscode.workspace.isTrusted) throw notTrusted();
        return this.begin(
          { file, environment: usable(await this.environments.load(file)), request: live.head.request },
          live,
        );
      case 'addModel':
        if (!vscode.workspace.isTrusted) throw notTrusted();
        return this.addModel(live);
      case 'export':
        return exportTo(live, message.format);
      case 'ignore':
        return this.write(live, await ignoreEdit(file, [message.path]));
      case 'recordAll':
        return this.write(
          live,
          await recordEdit(file, await this.unrecorded(live, message.tool, message.side)),
        );
      case 'tool': {
        const { uri, range } = (await this.environments.load(file)).tool(message.tool);
        await vscode.window.showTextDocument(uri, { selection: range, viewColumn: column });
        return;
      }
    }
    const pair = live.pairAt(message.id, message.side);
    if (!pair) return;
    switch (message.type) {
      case 'diff':
        return this.services.diffs.show(`${live.head.id}-${message.side}-${message.id}`, pair, column);
      case 'verdict':
        return this.write(
          live,
          await verdictEdit(file, { pair, verdict: message.verdict, note: message.note }),
        );
      case 'record':
        return this.write(live, await recordEdit(file, [pair]));
      case 'debug': {
        const { request } = live.head;
        if (request.kind === 'session') return this.session.open(request.session);
        if (pair.task !== null)
          return this.session.start({ file, task: pair.task, model: live.runs[message.side]!.model });
      }
    }
  }

  /** What was written is shown at once. */
  private async write(live: LiveComparison, edit: vscode.WorkspaceEdit): Promise<void> {
    await apply(edit);
    await this.comparisons.judge(live);
  }

  private async unrecorded(live: LiveComparison, tool: string, side: number) {
    const { environment } = await this.environments.load(live.environmentFile);
    const known = new ExampleIndex(environment?.examples ?? []);
    return (live.runs[side]?.pairs ?? []).filter(
      (pair) =>
        pair.tool === tool &&
        pair.source === 'rehearsed' &&
        verdictOf(pair) === 'differs' &&
        !known.has(pair),
    );
  }
}

function withoutModel(model: string): string {
  return `The model ${printable(model)}, which this session was made with, is not offered any more. What it rehearsed is compared without its surprise; Add Model… compares one that is offered.`;
}
