/**
 * The page over a training file. The text document is the truth: the page shows what it says, and changes it by
 * edits of its text, so that undo, saving and what another editor shows are VS Code's own.
 */
import path from 'node:path';
import { type ParseError, parse } from 'jsonc-parser';
import * as vscode from 'vscode';
import type {
  EstimateView,
  FileProblem,
  FileView,
  FromTraining,
  ToTraining,
} from '../../../webview/common/training';
import { isFromTraining } from '../../../webview/common/training-validators.generated';
import { isObject, type Json, type JsonObject } from '../../core/json';
import { publishedTrainingSchema } from '../../core/training/schema';
import { errorText, noticeOf, UserError } from '../../core/user-error';
import type { EnvironmentStore } from '../environments/store';
import { assetsOf, pageOf } from '../page';
import type { Services } from '../services';
import { pathAt, setTask, setValue } from './edits';
import type { LoadedFile, TrainingFiles } from './files';
import { fieldGroups } from './form';
import { usable } from './launch';
import type { Runs } from './runs';

export interface FilePageHost
  extends Pick<Services, 'context' | 'log' | 'server' | 'showError' | 'runErrorAction'> {
  files: TrainingFiles;
  environments: EnvironmentStore;
  runs: Runs;
  launch(file: string): Promise<void>;
}

const GROUPS = {
  default: fieldGroups(publishedTrainingSchema()),
  paper: fieldGroups(publishedTrainingSchema(), 'paper'),
};

export class FilePages implements vscode.CustomTextEditorProvider {
  constructor(private readonly host: FilePageHost) {}

  resolveCustomTextEditor(document: vscode.TextDocument, panel: vscode.WebviewPanel): void {
    const { context } = this.host;
    const { webview } = panel;
    webview.options = { enableScripts: true, localResourceRoots: [assetsOf(context.extensionUri)] };
    const page = new FilePage(document, panel, this.host);
    panel.onDidDispose(() => page.dispose());
    webview.html = pageOf({
      webview,
      extension: context.extensionUri,
      bundle: 'training',
      title: 'Training',
      data: {},
    });
  }
}

class FilePage {
  private readonly disposables: vscode.Disposable[];
  private readonly abort = new AbortController();
  private models: string[] = [];
  private estimate: AbortController | undefined;
  /** Edits one after the other: each is made on the text that the one before left. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly document: vscode.TextDocument,
    private readonly panel: vscode.WebviewPanel,
    private readonly host: FilePageHost,
  ) {
    const mine = (changed: vscode.TextDocument) => changed === document && void this.show();
    this.disposables = [
      vscode.workspace.onDidChangeTextDocument((event) => mine(event.document)),
      host.files.onDidChange(() => void this.show()),
      panel.webview.onDidReceiveMessage((message: unknown) => {
        if (!isFromTraining(message))
          return host.log.warn('The training page sent a message that is not known.');
        void this.receive(message).catch((error) => this.fail(error));
      }),
    ];
  }

  dispose(): void {
    this.abort.abort();
    this.estimate?.abort();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async receive(message: FromTraining): Promise<void> {
    switch (message.type) {
      case 'ready':
        await this.show();
        void this.askModels();
        return;
      case 'set':
        return this.edit((text) => setValue(text, message.path, message.value));
      case 'task':
        return this.edit((text) => setTask(text, message.part, message.task, message.in));
      case 'text':
        await vscode.commands.executeCommand(
          'vscode.openWith',
          this.document.uri,
          'default',
          vscode.ViewColumn.Beside,
        );
        return;
      case 'estimate':
        return this.measure();
      case 'launch':
        this.send({ type: 'notice', notice: null });
        return this.host.launch(this.document.uri.fsPath);
      case 'action':
        return this.host.runErrorAction(message.id);
    }
  }

  private edit(change: (text: string) => ReturnType<typeof setValue>): Promise<void> {
    const made = this.last.then(async () => {
      const { document } = this;
      const edits = change(document.getText());
      if (edits.length === 0) return;
      const workspaceEdit = new vscode.WorkspaceEdit();
      for (const { offset, length, content } of edits) {
        const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
        workspaceEdit.replace(document.uri, range, content);
      }
      const isDone = await vscode.workspace.applyEdit(workspaceEdit);
      if (!isDone) throw new UserError('The file could not be changed.', 'Check that it can be written.');
    });
    this.last = made.catch(() => undefined);
    return made;
  }

  private async show(): Promise<void> {
    const loaded = await this.host.files.load(this.document.uri.fsPath);
    const folder = path.dirname(loaded.file);
    const environments = (await this.host.environments.files()).map((file) => relativeName(folder, file));
    const values = valuesOf(loaded.text);
    const base = isObject(values) && typeof values.environment === 'string' ? values.environment : null;
    const tasks = base === null ? [] : await this.tasksOf(path.resolve(folder, base));
    this.send({ type: 'file', file: fileView(loaded, { values, environments, tasks, models: this.models }) });
  }

  private async tasksOf(file: string): Promise<string[]> {
    const { environment } = await this.host.environments.load(file);
    return environment?.tasks.map(({ id }) => id) ?? [];
  }

  /** Of a server that runs already: looking at a file starts nothing. */
  private async askModels(): Promise<void> {
    try {
      const address = await this.host.server.address({ start: false });
      if (!address) return;
      this.models = await this.host.server.models();
      await this.show();
    } catch (error) {
      this.host.log.warn(`The models are not known: ${(error as Error).message}`);
    }
  }

  private async measure(): Promise<void> {
    this.estimate?.abort();
    const abort = new AbortController();
    this.estimate = abort;
    this.sendEstimate({ state: 'measuring' });
    try {
      const config = usable(await this.host.files.load(this.document.uri.fsPath));
      const { secondsPerStep, tokensPerStep, memoryBytes, seconds, why } = await this.host.runs.client.probe(
        config,
        {},
        abort.signal,
      );
      const isMeasured = seconds !== null || secondsPerStep !== null;
      this.sendEstimate({
        state: isMeasured ? 'measured' : 'failed',
        secondsPerStep,
        tokensPerStep,
        memoryBytes,
        seconds,
        why,
      });
    } catch (error) {
      if (!abort.signal.aborted) this.sendEstimate({ state: 'failed', why: errorText(error) });
    }
  }

  private sendEstimate(estimate: Partial<EstimateView> & Pick<EstimateView, 'state'>): void {
    const none = { secondsPerStep: null, tokensPerStep: null, memoryBytes: null, seconds: null, why: '' };
    this.send({ type: 'estimate', estimate: { ...none, ...estimate } });
  }

  private fail(error: unknown): void {
    if (error instanceof vscode.CancellationError) return;
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

interface Around {
  values: unknown;
  environments: string[];
  tasks: string[];
  models: string[];
}

function fileView(loaded: LoadedFile, { values, ...around }: Around): FileView {
  const problems = loaded.diagnostics.map(
    ({ severity, message, next, offset, file }): FileProblem => ({
      path: file ? [] : pathAt(loaded.text, offset),
      severity,
      message: `${file ? `${file}: ` : ''}${message}${next ? ` ${next}` : ''}`,
    }),
  );
  return {
    name: path.basename(loaded.file),
    groups: GROUPS[loaded.settings.preset],
    values: values ?? null,
    problems,
    ...around,
    counts: Object.fromEntries(Object.entries(loaded.parts).map(([part, tasks]) => [part, tasks.length])),
    summary: summaryOf(loaded),
    launchable: loaded.config !== null,
  };
}

function summaryOf({ config, settings, parts, diagnostics }: LoadedFile): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  if (!config)
    return `${errors === 1 ? 'One thing has' : `${errors} things have`} to be corrected before it can be launched.`;
  const { steps, tasksPerStep, groupSize, evaluation } = settings;
  const rollouts = steps * tasksPerStep * groupSize;
  const checks =
    evaluation.every > 0 && parts.validation.length > 0 ? `, evaluated every ${evaluation.every} steps` : '';
  return `${steps} steps of ${tasksPerStep} × ${groupSize} rollouts, ${rollouts.toLocaleString('en-US')} in all, on ${parts.train.length} tasks${checks}.`;
}

function valuesOf(text: string): Json | undefined {
  const problems: ParseError[] = [];
  return parse(text, problems, { allowTrailingComma: true }) as JsonObject | undefined;
}

/** As it is written in a file: with forward slashes everywhere. */
function relativeName(folder: string, file: string): string {
  return path.relative(folder, file).replaceAll(path.sep, '/');
}
