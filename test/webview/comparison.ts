/** A comparison for the page's pictures and tests: made and judged by the real core, of answers of our own. */
import type { Environment } from '../../src/core/environment/types';
import { compareAnswers } from '../../src/core/fidelity/compare';
import { type ComparedCall, type ComparisonRun, judged } from '../../src/core/fidelity/comparison';
import { callsOf, filtered, type RowFilter } from '../../src/core/fidelity/rows';
import { answerSpan, scoredText, surpriseOf } from '../../src/core/fidelity/surprise';
import type { Answer } from '../../src/core/fidelity/types';
import { comparisonView, pairView } from '../../src/core/fidelity/view';
import type { Json, JsonObject } from '../../src/core/json';
import type { CompareHead, FromCompare, ToCompare } from '../../webview/common/compare';
import type { PanelPage } from './open';

const ENVIRONMENT: Pick<Environment, 'ignore' | 'tolerances' | 'examples'> = {
  ignore: ['$.tracking_id'],
  tolerances: [{ path: '$.total', number: { absolute: 1 } }],
  examples: [],
};

const result = (value: Json): Answer => ({ outcome: 'result', value });
const error = (message: string): Answer => ({ outcome: 'error', value: { error: message } });

function order(i: number): JsonObject {
  return {
    order_id: `#W${4284542 + i * 37}`,
    status: 'pending',
    items: [
      { name: 'Lamp', price: 30 },
      { name: `Mug ${i}`, price: 12.5 },
    ],
    total: 84.9 + i,
    tracking_id: `T${4815162 + i}`,
    warehouse: 'B',
  };
}

/** How far off the rehearsal of call `i` is; `skill` from 0 to 1. */
function rehearsed(i: number, skill: number): Answer {
  const right = order(i);
  const off = (n: number, part: number) => (i * 7 + n) % 10 >= 10 * part;
  const value: JsonObject = { ...right, tracking_id: `T${i}` };
  if (off(3, 0.3 + 0.6 * skill)) value.status = 'delivered';
  if (off(5, 0.5 + 0.45 * skill)) value.total = 10;
  else if (i % 3 === 0) value.total = (right.total as number) + 0.4;
  if (i % 9 === 4) {
    delete value.warehouse;
    value.shipped_from = 'Depot "B"';
  }
  return result(value);
}

function surpriseFor(real: Answer, seed: number, skill: number) {
  const text = scoredText(real);
  const pieces = text.match(/<\/?\w+>|[A-Za-z_]+|\d|[^\w\s]+|\s/g)!;
  const tokens = pieces.map((piece, i) => {
    const rare = /^(pending|B|Lamp|Mug|warehouse)$/.test(piece)
      ? 1.6 + ((seed + i) % 5) * 1.1
      : 0.02 + ((i * 13) % 7) * 0.05;
    return {
      text: piece,
      bytes: [...new TextEncoder().encode(piece)],
      logprob: -rare * Math.LN2 * (1.4 - skill),
    };
  });
  return surpriseOf(tokens, answerSpan(real));
}

function pair(i: number, skill: number): ComparedCall {
  const isError = i % 5 === 3;
  const real = isError
    ? error(i % 2 ? 'Order not found' : 'Order is shipped and cannot be cancelled')
    : result(order(i));
  const seen = isError
    ? i % 4 === 3 && skill < 0.8
      ? result(order(i))
      : i % 10 === 8
        ? error('Order not found')
        : real
    : rehearsed(i, skill);
  return {
    tool: isError && i % 2 === 0 ? 'cancel_order' : 'get_order_details',
    arguments: { order_id: `${isError && i % 2 ? '' : '#'}W${4284542 + i * 37}` },
    rehearsed: seen,
    real,
    comparison: compareAnswers(seen, real),
    task: null,
    index: i,
    source: 'rehearsed',
    recorded: i % 2 === 0,
    afterWrite: false,
    durationMs: i % 2 === 0 ? null : 3.2,
    surprise: surpriseFor(real, i, skill),
  };
}

export function runOf(model: string, n: number, skill: number): ComparisonRun {
  return {
    model,
    pairs: judged(
      Array.from({ length: n }, (_, i) => pair(i, skill)),
      ENVIRONMENT,
    ),
    uncompared: [],
  };
}

export const HEAD: CompareHead = {
  status: 'done',
  progress: '',
  share: null,
  stale: null,
  noModel: null,
  readOnly: null,
};

/** The extension's side of the page: answers what the page asks for, from a comparison in memory. */
export class FakeHost {
  private answered = 0;

  constructor(
    private readonly page: PanelPage,
    public runs: ComparisonRun[],
    public head: CompareHead = HEAD,
  ) {}

  async start(): Promise<void> {
    const about = {
      environment: 'retail-shop',
      what: `${this.runs[0]!.pairs.length} held-out recorded calls`,
      created: '2026-11-29T15:40:00.000Z',
    };
    await this.send({
      type: 'comparison',
      view: comparisonView(about, this.runs, ENVIRONMENT.examples),
      head: this.head,
    });
    const { rows } = callsOf(this.runs);
    for (let at = 0; at < rows.length || at === 0; at += 500)
      await this.send({ type: 'rows', total: rows.length, rows: rows.slice(at, at + 500) });
    await this.answer();
  }

  /** Answers everything that was asked since, until the page asks no more. */
  async answer(): Promise<void> {
    for (let posted = await this.posted(); posted.length > this.answered; posted = await this.posted()) {
      const message = posted[this.answered++]!;
      if (message.type === 'filter')
        await this.send({
          type: 'list',
          filter: message.number,
          ids: filtered(callsOf(this.runs), message.filter as RowFilter),
        });
      else if (message.type === 'pair') {
        const { id, side } = message;
        const found = callsOf(this.runs).pairs[id]?.[side] ?? null;
        await this.send({
          type: 'pair',
          id,
          side,
          pair: found && pairView(found, { id, side }, { examples: [] }),
          reason: 'the tool timed out',
        });
      }
    }
  }

  posted(): Promise<FromCompare[]> {
    return this.page.posted() as unknown as Promise<FromCompare[]>;
  }

  private async send(message: ToCompare): Promise<void> {
    await this.page.send(message);
  }
}
