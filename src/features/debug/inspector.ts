/** What a stopped session shows: stack, scopes, variables, and the values of expressions. */
import { Source, StackFrame } from '@vscode/debugadapter';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { turnStart } from '../../core/rehearsal/ask';
import { printable } from '../../core/text';
import type { LiveSession } from '../session/live';
import { cursorPlace, type Place } from '../session/places';
import { AskedCall } from './asked-call';
import { askedBy, callIn, ExpressionError, NAMES, read } from './evaluate';
import { type Focus, focusOf } from './focus';
import type { AdapterHost, EnvironmentLines } from './host';
import { outputScopes, type ScopeRows, taskScopes, turnScopes } from './scopes';
import { jsonRow, type Row, RowHandles } from './values';

export const Frame = { output: 1, turn: 2, task: 3 } as const;

/** Lines and columns are zero-based; the adapter converts them. */
export class Inspector {
  private readonly rows = new RowHandles();

  constructor(
    private readonly live: LiveSession,
    private readonly lines: EnvironmentLines,
    private readonly host: AdapterHost,
  ) {}

  /** The session moved: references given out before mean nothing any more. */
  moved(): void {
    this.rows.clear();
  }

  get focus(): Focus {
    return focusOf(this.live.session);
  }

  frames(): P.StackFrame[] {
    const { live, focus } = this;
    const { task } = live.session.setup;
    const document = this.host.transcript.document(live);
    const path = this.host.transcript.path(live);
    const transcript = new Source(path.slice(path.lastIndexOf('/') + 1), path);
    const place = cursorPlace(live.session, document);
    // The client selects what a frame spans: a token is worth that, a whole line would look like a search hit.
    const here = focus.token ? place : { ...place, endLine: place.line, endColumn: place.column };
    const tokens = focus.output?.tokens?.length ?? 0;
    const token = focus.token ? `, token ${tokens}` : '';
    const turnLine = focus.turn ? (document.turns.get(focus.turn.index) ?? here.line) : here.line;
    const frames = [frame(Frame.output, `${focus.title}${token}`, transcript, here)];
    if (focus.turn)
      frames.push(frame(Frame.turn, `turn ${focus.turn.index}`, transcript, lineOnly(turnLine)));
    frames.push(this.taskFrame(task.id, transcript));
    return frames;
  }

  /** The task stands in the environment file, where that is known. */
  private taskFrame(id: string, transcript: Source): P.StackFrame {
    const line = this.lines.tasks.get(id);
    const file = this.live.environmentFile;
    const source = line === undefined ? transcript : new Source(file.split(/[\\/]/).pop() ?? file, file);
    return frame(Frame.task, `task ${id}`, source, lineOnly(line ?? 0));
  }

  scopes(frameId: number): P.Scope[] {
    return this.scopesOf(frameId).map(({ name, expensive, rows }) => ({
      name,
      expensive: expensive ?? false,
      variablesReference: this.rows.add(rows),
    }));
  }

  private scopesOf(frameId: number): ScopeRows[] {
    if (frameId === Frame.task) return taskScopes(this.focus);
    return frameId === Frame.turn ? turnScopes(this.focus) : outputScopes(this.focus);
  }

  variables(reference: number): P.Variable[] {
    return this.rows.open(reference);
  }

  /**
   * The value of an expression. Only where `mayAsk` a call is rehearsed, executed (`!`), or both and compared (`?`):
   * as if it were written in this turn, beside the session, which stays as it is. Throws `ExpressionError`, and
   * what the server throws.
   */
  async evaluate(
    expression: string,
    mayAsk: boolean,
    signal: AbortSignal,
  ): Promise<P.EvaluateResponse['body']> {
    const { asked, text } = askedBy(expression);
    const call = callIn(text);
    if (!call) {
      if (asked === 'rehearse') return this.result(jsonRow('', read(expression, this.focus)));
      throw new ExpressionError('Write a call behind the mark, as !get_order({"order_id": "#W1"}).');
    }
    if (!mayAsk) throw new ExpressionError('Only the debug console rehearses and executes calls.');
    const from = turnStart(this.live.session.path());
    const answers = new AskedCall(this.live, from, call, signal);
    if (asked === 'rehearse') return this.result(await answers.rehearsed());
    if (asked === 'execute') return this.result(await answers.executed());
    return this.result(await answers.compared());
  }

  private result(row: Row): P.EvaluateResponse['body'] {
    return {
      result: row.value,
      ...(row.type && { type: row.type }),
      variablesReference: row.children ? this.rows.add(row.children) : 0,
    };
  }

  /** Tools as calls, and the names that expressions begin with. */
  completions(): P.CompletionItem[] {
    const { tools } = this.live.session.setup.environment;
    return [
      ...tools.map(({ name }) => ({ label: `${printable(name)}({})`, type: 'function' as const })),
      ...Object.keys(NAMES).map((label) => ({ label, type: 'variable' as const })),
    ];
  }
}

function lineOnly(line: number): Place {
  return { line, column: 0, endLine: line, endColumn: 0 };
}

function frame(id: number, name: string, source: Source, place: Place): P.StackFrame {
  const made: P.StackFrame = new StackFrame(id, printable(name), source, place.line, place.column);
  return { ...made, endLine: place.endLine, endColumn: place.endColumn, canRestart: true };
}
