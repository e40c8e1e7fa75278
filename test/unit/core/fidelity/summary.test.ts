import assert from 'node:assert/strict';
import { anticipationOf } from '../../../../src/core/fidelity/anticipation';
import { authorVerdict, differenceDiagnostics, recordOf } from '../../../../src/core/fidelity/author';
import { compareAnswers } from '../../../../src/core/fidelity/compare';
import { wilson } from '../../../../src/core/fidelity/interval';
import { summarize } from '../../../../src/core/fidelity/summary';
import {
  answerSpan,
  type ScoredToken,
  scoredText,
  sumSurprise,
  surpriseOf,
} from '../../../../src/core/fidelity/surprise';
import type { Answer, ComparedPair } from '../../../../src/core/fidelity/types';
import type { Json } from '../../../../src/core/json';

const result = (value: Json): Answer => ({ outcome: 'result', value });
const error = (text: string): Answer => ({ outcome: 'error', value: { error: text } });

function pair(tool: string, rehearsed: Answer, real: Answer, author?: ComparedPair['author']): ComparedPair {
  return { tool, arguments: {}, rehearsed, real, comparison: compareAnswers(rehearsed, real), author };
}

describe('fidelity over many calls', () => {
  it('has the Wilson interval', () => {
    // Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20.
    const rounded = (good: number, n: number) => {
      const { low, high } = wilson(good, n);
      return [low, high].map((bound) => Math.round(bound * 1e4) / 1e4);
    };
    assert.deepEqual(rounded(81, 263), [0.2553, 0.3662]);
    assert.deepEqual(rounded(15, 148), [0.0624, 0.1605]);
    assert.deepEqual(rounded(0, 20), [0, 0.1611]);
    assert.deepEqual(wilson(0, 0), { good: 0, n: 0, share: null, low: 0, high: 1 });
    assert.equal(wilson(5, 5).high, 1);
  });

  it('counts calls by tool, and fields once a call', () => {
    const items = (...prices: number[]) => result({ status: 'a', items: prices.map((price) => ({ price })) });
    const { tools, fidelity, verdicts } = summarize([
      pair('orders', items(1, 2), items(1, 2)),
      pair('orders', items(9, 9), items(1, 2)),
      pair('users', result({ id: 1 }), error('User not found')),
    ]);
    assert.deepEqual([fidelity.good, fidelity.n], [1, 3]);
    assert.deepEqual(verdicts, { match: 1, tolerable: 0, differs: 2 });
    const price = tools[0]!.fields.find(({ field }) => field === '$.items[*].price')!;
    assert.deepEqual([price.fidelity.good, price.fidelity.n, price.counts.differs], [1, 2, 1]);
    assert.deepEqual([tools[0]!.outcomes.good, tools[1]!.outcomes.good], [2, 0]);
  });

  it("takes the author's word: a wrong real tool says nothing about the policy", () => {
    const { fidelity, leftOut } = summarize([
      pair('t', result({ a: 1 }), result({ a: 2 }), 'tolerable'),
      pair('t', result({ a: 1 }), result({ a: 1 }), 'wrong rehearsal'),
      pair('t', result({ price: 1 }), result({ price: 2 }), 'real tool wrong'),
    ]);
    assert.deepEqual([fidelity.good, fidelity.n, leftOut], [1, 2, 1]);
    const real = result({ price: 2 });
    const record = recordOf(
      { tool: 't', arguments: { a: 1 }, rehearsed: real, real },
      { verdict: 'real tool wrong' },
    );
    assert.equal(
      authorVerdict([record], { tool: 't', arguments: { a: 1 }, real, rehearsed: real }),
      'real tool wrong',
    );
    assert.equal(
      authorVerdict([record], {
        tool: 't',
        arguments: { a: 1 },
        real: result({ price: 3 }),
        rehearsed: real,
      }),
      undefined,
    );
  });

  it('takes a verdict on a rehearsal only for that rehearsal: a model that has learned is judged anew', () => {
    const call = { tool: 't', arguments: { a: 1 }, real: result({ price: 2 }) };
    const seen = { ...call, rehearsed: result({ price: 1 }) };
    const record = recordOf(seen, { verdict: 'wrong rehearsal' });
    assert.equal(authorVerdict([record], seen), 'wrong rehearsal');
    assert.equal(authorVerdict([record], { ...call, rehearsed: result({ price: 2 }) }), undefined);
    const { rehearsed: _, ...about } = record;
    assert.equal(authorVerdict([about], { ...call, rehearsed: result({ price: 9 }) }), 'wrong rehearsal');
  });

  it('says at the tool which field differs how often', () => {
    const summary = summarize([
      pair('get', result({ status: 'a', id: 1 }), result({ status: 'b', id: 1 })),
      pair('get', result({ status: 'b', id: 1 }), result({ status: 'b', id: 1 })),
      pair('gone', result(1), result(2)),
    ]);
    const tools = new Map([['get', { offset: 40, length: 9 }]]);
    const found = differenceDiagnostics(summary, { tools });
    assert.deepEqual(
      found.map(({ message, offset, severity }) => ({ message, offset, severity })),
      [{ message: 'get: `$.status` differs in 1 of 2 rehearsals.', offset: 40, severity: 'information' }],
    );
  });
});

describe('anticipation of failures', () => {
  it('is recall, precision and the confusion of error classes', () => {
    const found = anticipationOf([
      { rehearsed: error('Order not found'), real: error('Order #W1 not found') },
      { rehearsed: error('Order #W3 not found'), real: error('Order #W1 not found') },
      { rehearsed: result({}), real: error('Order #W2 not found') },
      { rehearsed: error('User not found'), real: result({}) },
      { rehearsed: result({}), real: result({}) },
    ]);
    assert.deepEqual([found.recall.good, found.recall.n], [2, 3]);
    assert.deepEqual([found.precision.good, found.precision.n], [2, 3]);
    assert.deepEqual([found.sameError.good, found.sameError.n], [1, 2]);
    const missed = found.confusion.find(
      ({ real, rehearsed }) => real === 'Order <id> not found' && rehearsed === 'result',
    );
    assert.equal(missed?.n, 1);
    assert.equal(
      found.confusion.reduce((sum, { n }) => sum + n, 0),
      5,
    );
  });

  it('of nothing is unknown, not perfect', () => {
    assert.equal(anticipationOf([]).recall.share, null);
  });
});

describe('surprise of the real answer', () => {
  const encoder = new TextEncoder();
  const token = (text: string, probability: number | null): ScoredToken => ({
    text,
    bytes: [...encoder.encode(text)],
    logprob: probability === null ? null : Math.log(probability),
  });

  it('counts the answer in bits and not the tags around it', () => {
    const real = result({ a: 'é' });
    assert.equal(scoredText(real), '<execution_result>{"a": "é"}</execution_result>');
    const tokens = [
      token('<execution_result>', 0.001),
      token('{"a": "', 0.5),
      token('é', 0.25),
      token('"}', 1),
      token('</execution_result>', 0.001),
    ];
    const { marks, ...total } = surpriseOf(tokens, answerSpan(real));
    assert.deepEqual(total, { bits: 3, tokens: 3, bytes: 11, gaps: 0, bitsPerToken: 1, bitsPerByte: 3 / 11 });
    assert.deepEqual(
      marks.map(({ counted }) => counted),
      [false, true, true, true, false],
    );
  });

  it('counts a token over the edge of the answer with its bytes inside, and shows gaps', () => {
    const real = result([1]);
    const tokens = [token('<execution_result>[', 0.5), token('1', null), token(']</execution_result>', 0.5)];
    const { bits, bytes, gaps, tokens: counted } = surpriseOf(tokens, answerSpan(real));
    assert.deepEqual({ bits, bytes, gaps, counted }, { bits: 2, bytes: 2, gaps: 1, counted: 2 });
  });

  it('of plain text and errors is that of the object which stands for them', () => {
    assert.equal(
      scoredText({ outcome: 'error', value: 'No' }),
      '<execution_result>{"error": "No"}</execution_result>',
    );
    assert.equal(scoredText(result('id_1')), '<execution_result>{"result": "id_1"}</execution_result>');
  });

  it('of many answers weighs every token the same', () => {
    const long = { bits: 30, tokens: 30, bytes: 60, gaps: 0, bitsPerToken: 1, bitsPerByte: 0.5 };
    const short = { bits: 10, tokens: 1, bytes: 4, gaps: 1, bitsPerToken: 10, bitsPerByte: 2.5 };
    assert.deepEqual(sumSurprise([long, short]), {
      bits: 40,
      tokens: 31,
      bytes: 64,
      gaps: 1,
      bitsPerToken: 40 / 31,
      bitsPerByte: 40 / 64,
    });
    assert.equal(sumSurprise([]).bitsPerToken, null);
  });
});
