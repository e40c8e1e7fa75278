/** A call that a person writes into the debug console: rehearsed, executed, or both and compared. */
import { rulesOf } from '../../core/fidelity/author';
import { compareAnswers } from '../../core/fidelity/compare';
import type { Answer } from '../../core/fidelity/types';
import { formatJson } from '../../core/json';
import { rehearseCall } from '../../core/rehearsal/ask';
import { callAskedAt } from '../../core/rehearsal/calls';
import type { State } from '../../core/rehearsal/types';
import type { LiveSession } from '../session/live';
import { type callIn, ExpressionError } from './evaluate';
import { jsonRow, oneLine, type Row } from './values';

type Call = NonNullable<ReturnType<typeof callIn>>;

/** Nothing of it becomes part of the session. All throw `ExpressionError`, and what server and tools throw. */
export class AskedCall {
  constructor(
    private readonly live: LiveSession,
    /** Where the turn begins in which the call is made. */
    private readonly from: State,
    private readonly call: Call,
    private readonly signal: AbortSignal,
  ) {}

  async rehearsed(): Promise<Row> {
    const { source, ...answer } = await this.rehearse();
    return answerRow(source, answer);
  }

  async executed(): Promise<Row> {
    const { durationMs, notes = [], ...answer } = await this.execute();
    const row = answerRow('real', answer);
    const noted = notes.map((note, i): Row => ({ name: `note ${i + 1}`, value: oneLine(note) }));
    const time: Row = { name: 'duration', value: `${durationMs.toFixed(1)} ms` };
    return { ...row, children: () => [...(row.children?.() ?? []), time, ...noted] };
  }

  async compared(): Promise<Row> {
    // First what may be refused: nothing is sampled for a person who says no.
    const real = await this.execute();
    const rehearsed = await this.rehearse();
    const { environment } = this.from.setup;
    const { verdict, fields } = compareAnswers(rehearsed, real, rulesOf(environment));
    const differing = fields.filter(({ kind }) => kind !== 'match');
    const said = differing.map(({ path, kind, rehearsed: a, real: b }): Row => {
      const text = (value: typeof a) => (value === undefined ? 'nothing' : formatJson(value));
      return { name: oneLine(path), value: oneLine(`${kind}: rehearsed ${text(a)}, really ${text(b)}`) };
    });
    const summary = [verdict, ...said.map(({ name, value }) => `${name} ${value}`)].join('; ');
    const sides = [answerRow(rehearsed.source, rehearsed, 'rehearsed'), answerRow('real', real, 'real')];
    return { name: '', value: oneLine(summary, 600), children: () => [...said, ...sides] };
  }

  private async rehearse() {
    const ports = await this.live.connection(this.signal);
    const { observation } = await rehearseCall(this.from, this.call, ports, this.signal);
    if (!observation) throw new ExpressionError('The rehearsal was stopped before its end.');
    return observation;
  }

  private async execute() {
    const asked = { tool: this.call.name, arguments: this.call.arguments };
    const execution = await this.live.beside.executeAt(callAskedAt(this.from, asked), this.signal);
    if (!execution) throw new ExpressionError(`Not executed: you did not allow ${this.call.name}.`);
    if (execution.failure) throw new ExpressionError(execution.failure.message);
    return execution;
  }
}

function answerRow(source: string, { outcome, value }: Answer, name = ''): Row {
  const row = jsonRow(name, value);
  return { ...row, value: `${source} ${outcome}: ${row.value}` };
}
