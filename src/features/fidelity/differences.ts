/**
 * What the last comparison of an environment found, as information at its tools, with quick fixes. Kept in the
 * workspace's storage, so that it is there again after a reload; the pairs are read when a fix needs them.
 */
import * as vscode from 'vscode';
import type { Environment } from '../../core/environment/types';
import { DIFFERENCE_CODE, differenceDiagnostics } from '../../core/fidelity/author';
import { type ComparedCall, counted } from '../../core/fidelity/comparison';
import { summarize, verdictOf } from '../../core/fidelity/summary';
import { formatJson, type Json } from '../../core/json';
import { pathLocation, pathStep } from '../../core/jsonpath';
import { type Basis, basisOf, staleTools } from '../../node/fidelity/request';
import { sha256 } from '../../node/tools/places';
import type { EnvironmentStore } from '../environments/store';
import { Command, Language } from '../ids';
import { ignoreEdit, recordEdit } from './author';
import type { LiveComparison } from './live';

const SOURCE = 'Rehearsal';
const KEY = 'differences.v1';

interface Found {
  tool: string;
  field: string;
  message: string;
}

interface Kept {
  /** Path of the comparison's file. */
  comparison: string;
  basis: Basis;
  /** The rules and verdicts by which it was judged. */
  rules: string;
  found: Found[];
}

type All = { [environmentFile: string]: Kept };

export class Differences implements vscode.CodeActionProvider, vscode.Disposable {
  private readonly collection = vscode.languages.createDiagnosticCollection(`${SOURCE} differences`);
  private readonly disposables: vscode.Disposable[];
  /** What each diagnostic that is shown is about; by document, place and text, which is all that comes back of it. */
  private readonly about = new Map<string, Found & { file: string }>();
  private all: All;
  private round = 0;

  constructor(
    private readonly store: vscode.Memento,
    private readonly environments: EnvironmentStore,
    /** Opens a comparison by its file. */
    private readonly open: (file: string) => Promise<LiveComparison>,
  ) {
    this.all = store.get<All>(KEY, {});
    const kinds = [vscode.CodeActionKind.QuickFix];
    const selector = [
      { scheme: 'file', language: Language.environment },
      { scheme: 'file', pattern: '**/*.json' },
    ];
    this.disposables = [
      this.collection,
      environments.onDidChange(() => void this.refresh()),
      vscode.languages.registerCodeActionsProvider(selector, this, { providedCodeActionKinds: kinds }),
      vscode.commands.registerCommand(Command.clearDifferences, () => this.clear()),
    ];
    void this.refresh();
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Takes a comparison that stands still as the last one of its environment. */
  async show(live: LiveComparison, environment: Environment): Promise<void> {
    const pairs = live.runs.flatMap((run) => counted(run.pairs));
    const nowhere = { offset: 0, length: 0 };
    const tools = new Map(environment.tools.map(({ name }) => [name, nowhere]));
    const found = differenceDiagnostics(summarize(pairs), { tools }).map(({ tool, field, message }) => ({
      tool,
      field,
      message,
    }));
    this.all = {
      ...this.all,
      [live.environmentFile]: {
        comparison: live.file,
        basis: live.head.basis,
        rules: rulesKey(environment),
        found,
      },
    };
    await this.save();
  }

  /** Whether this comparison is the last one of its environment. */
  isShown(live: LiveComparison): boolean {
    return this.all[live.environmentFile]?.comparison === live.file;
  }

  async clear(): Promise<void> {
    this.all = {};
    await this.save();
  }

  private async save(): Promise<void> {
    await this.refresh();
    await this.store.update(KEY, this.all);
  }

  private async refresh(): Promise<void> {
    const round = ++this.round;
    const made: [vscode.Uri, vscode.Diagnostic[]][] = [];
    const about = new Map<string, Found & { file: string }>();
    for (const [file, kept] of Object.entries(this.all)) {
      const loaded = await this.environments.load(file);
      const { environment } = loaded;
      if (!environment) continue;
      if (kept.rules !== rulesKey(environment)) void this.judgeAnew(kept, environment);
      const stale = new Set(
        staleTools(
          kept.basis,
          basisOf(environment),
          environment.tools.map(({ name }) => name),
        ),
      );
      for (const found of kept.found) {
        if (!environment.tools.some(({ name }) => name === found.tool)) continue;
        const { uri, range } = await nameOf(loaded.tool(found.tool), found.tool);
        const diagnostic = diagnosticOf(found, range, stale.has(found.tool));
        about.set(keyOf(uri, diagnostic), { ...found, file });
        made.push([uri, [diagnostic]]);
      }
    }
    if (round !== this.round) return;
    this.collection.clear();
    this.about.clear();
    for (const [key, one] of about) this.about.set(key, one);
    // Several of one document are put together.
    this.collection.set(gathered(made));
  }

  /** The rules or verdicts were changed: what differs is another list now. */
  private async judgeAnew(kept: Kept, environment: Environment): Promise<void> {
    try {
      const live = await this.open(kept.comparison);
      await live.judge(environment);
      if (this.isShown(live) && !live.isRunning) await this.show(live, environment);
    } catch {
      // Its file is gone: what was found stays, until the environment is compared again.
      kept.rules = rulesKey(environment);
    }
  }

  provideCodeActions(
    document: vscode.TextDocument,
    _: vscode.Range,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    return context.diagnostics.flatMap((diagnostic) => {
      const about =
        diagnostic.code === DIFFERENCE_CODE ? this.about.get(keyOf(document.uri, diagnostic)) : undefined;
      return about ? actionsFor(about, diagnostic) : [];
    });
  }

  /** Edits are made when a fix is chosen: the pairs are read for that, and they may be many. */
  async resolveCodeAction(action: vscode.CodeAction): Promise<vscode.CodeAction> {
    const { about, fix } = action as Fix;
    if (fix === 'ignore') action.edit = await ignoreEdit(about.file, [about.field]);
    else if (fix === 'ignore everywhere')
      action.edit = await ignoreEdit(about.file, [everywhere(about.field)!]);
    else {
      const kept = this.all[about.file];
      const live = kept && (await this.open(kept.comparison));
      const pairs = live ? differing(live, about) : [];
      action.edit = await recordEdit(about.file, fix === 'record' ? pairs.slice(0, 1) : pairs);
    }
    return action;
  }
}

interface Fix extends vscode.CodeAction {
  about: Found & { file: string };
  fix: 'record' | 'record all' | 'ignore' | 'ignore everywhere';
}

function actionsFor(about: Found & { file: string }, diagnostic: vscode.Diagnostic): Fix[] {
  const { tool, field } = about;
  const fix = (title: string, what: Fix['fix']): Fix => {
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix) as Fix;
    return Object.assign(action, { diagnostics: [diagnostic], about, fix: what });
  };
  const anywhere = everywhere(field);
  return [
    fix(`Record the real answer of the first such call of ${tool} as an example`, 'record'),
    fix(`Record the real answers of all calls of ${tool} where ${field} differs`, 'record all'),
    fix(`Ignore ${field}`, 'ignore'),
    ...(anywhere ? [fix(`Ignore every field of this name (${anywhere})`, 'ignore everywhere')] : []),
  ];
}

/** `$..status` for `$.items[*].status`; null where a field has no name, or stands at the top alone. */
function everywhere(field: string): string | null {
  const name = pathLocation(field.replaceAll('[*]', '[0]')).at(-1);
  return typeof name === 'string' ? `$.${pathStep(name).replace(/^\[/, '.[')}` : null;
}

/** Calls of which a field differs, and which count. */
function differing({ runs }: LiveComparison, { tool, field }: Found): ComparedCall[] {
  const isWrong = ({ comparison }: ComparedCall) =>
    comparison.fields.some((one) => one.field === field && one.kind !== 'match' && one.kind !== 'tolerable');
  return runs
    .flatMap((run) => counted(run.pairs))
    .filter((pair) => pair.tool === tool && verdictOf(pair) !== null && isWrong(pair));
}

function diagnosticOf({ message }: Found, range: vscode.Range, isStale: boolean): vscode.Diagnostic {
  const text = `${message}${isStale ? ' The environment has changed since: compare again.' : ' Record the real answer as an example, or ignore this field.'}`;
  const made = new vscode.Diagnostic(range, text, vscode.DiagnosticSeverity.Information);
  made.source = SOURCE;
  made.code = DIFFERENCE_CODE;
  return made;
}

/** The place of a tool's name: a line under the whole tool would say less. */
async function nameOf({ uri, range }: vscode.Location, tool: string): Promise<vscode.Location> {
  const document = await vscode.workspace.openTextDocument(uri);
  const start = document.offsetAt(range.start);
  const text = document.getText(range);
  const found = /"name"\s*:\s*/.exec(text);
  const at = found ? found.index + found[0].length : -1;
  const name = JSON.stringify(tool);
  if (at < 0 || !text.startsWith(name, at))
    return new vscode.Location(uri, document.lineAt(range.start.line).range);
  return new vscode.Location(
    uri,
    new vscode.Range(document.positionAt(start + at), document.positionAt(start + at + name.length)),
  );
}

function rulesKey({ ignore, tolerances = [], examples }: Environment): string {
  const marked = examples.filter(({ verdict }) => verdict !== undefined);
  return sha256(formatJson([ignore, tolerances, marked] as unknown as Json));
}

function keyOf(uri: vscode.Uri, { range, message }: vscode.Diagnostic): string {
  return `${uri.toString()} ${range.start.line}:${range.start.character} ${message}`;
}

function gathered(made: readonly [vscode.Uri, vscode.Diagnostic[]][]): [vscode.Uri, vscode.Diagnostic[]][] {
  const byUri = new Map<string, [vscode.Uri, vscode.Diagnostic[]]>();
  for (const [uri, diagnostics] of made) {
    const known = byUri.get(uri.toString());
    if (known) known[1].push(...diagnostics);
    else byUri.set(uri.toString(), [uri, [...diagnostics]]);
  }
  return [...byUri.values()];
}
