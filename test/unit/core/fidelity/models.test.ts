import assert from 'node:assert/strict';
import { compareAnswers } from '../../../../src/core/fidelity/compare';
import { besideEachOther } from '../../../../src/core/fidelity/models';
import { surpriseOf } from '../../../../src/core/fidelity/surprise';
import type { ComparedPair } from '../../../../src/core/fidelity/types';

const REAL = { outcome: 'result' as const, value: { status: 'shipped' } };

function pair(
  index: number,
  tool: string,
  right: boolean,
  bits: number | null,
): ComparedPair & { index: number } {
  const rehearsed = { outcome: 'result' as const, value: { status: right ? 'shipped' : 'lost' } };
  const scored = bits === null ? [] : [{ text: 'x', bytes: [120, 120], logprob: -bits * Math.LN2 }];
  return {
    index,
    tool,
    arguments: {},
    rehearsed,
    real: REAL,
    comparison: compareAnswers(rehearsed, REAL),
    ...(bits === null ? {} : { surprise: surpriseOf(scored, { start: 0, end: 2 }) }),
  };
}

describe('models on the same calls', () => {
  it('count the calls that both were compared on, whatever their order', () => {
    const summary = besideEachOther([
      { model: 'a', pairs: [pair(0, 'get', true, 1), pair(1, 'get', true, 1), pair(2, 'put', false, 3)] },
      { model: 'b', pairs: [pair(2, 'put', true, 1), pair(0, 'get', false, 5), pair(7, 'put', true, 9)] },
    ]);
    const { models, calls, fidelity, surprise, tools, differences } = summary;
    const [{ onlyFirst, onlyThis }] = differences as [(typeof differences)[0]];
    assert.deepEqual([models, calls, onlyFirst, onlyThis], [['a', 'b'], 2, 1, 1]);
    assert.deepEqual(
      fidelity.map(({ good, n }) => [good, n]),
      [
        [1, 2],
        [1, 2],
      ],
    );
    assert.deepEqual(
      surprise.map((one) => [one!.bitsPerToken, one!.bitsPerByte]),
      [
        [2, 1],
        [3, 1.5],
      ],
    );
    assert.deepEqual(
      tools.map(({ tool, fidelity: own, surprise: bits }) => [
        tool,
        ...own.map(({ share }) => share),
        ...bits.map((one) => one!.bits),
      ]),
      [
        ['get', 1, 0, 1, 5],
        ['put', 0, 1, 3, 1],
      ],
    );
  });

  it('leave out calls whose real answer the author calls wrong, and have no surprise where none was scored', () => {
    const wrong = { ...pair(1, 'get', false, 4), author: 'real tool wrong' as const };
    const { calls, surprise } = besideEachOther([
      { model: 'a', pairs: [pair(0, 'get', true, 2), wrong] },
      { model: 'b', pairs: [pair(0, 'get', true, null), pair(1, 'get', false, null)] },
    ]);
    assert.equal(calls, 1);
    assert.equal(surprise[0]!.bits, 2);
    assert.equal(surprise[1], null);
  });

  it('may be any number, each held against the first', () => {
    const run = (model: string, right: boolean[], bits: number) => ({
      model,
      pairs: right.map((holds, index) => pair(index, 'get', holds, bits + index)),
    });
    const { fidelity, differences } = besideEachOther([
      run('a', [true, false, false, false], 4),
      run('b', [true, true, true, false], 2),
      run('c', [false, false, false, false], 4),
    ]);
    assert.deepEqual(
      fidelity.map(({ good }) => good),
      [1, 3, 0],
    );
    const [b, c] = differences;
    assert.deepEqual([b!.model, b!.onlyThis, b!.onlyFirst], ['b', 2, 0]);
    assert.equal(b!.fidelity!.value, 0.5);
    // Bonett and Price by hand: centre (3 − 1) / 6, half 1.96 √((4/6 − 1/9) / 6).
    assert.ok(Math.abs(b!.fidelity!.low - (1 / 3 - 1.959964 * Math.sqrt(5 / 54))) < 1e-6);
    assert.deepEqual([b!.bitsPerByte!.value, b!.bitsPerByte!.low, b!.bitsPerByte!.high], [-1, -1, -1]);
    assert.deepEqual([c!.onlyThis, c!.onlyFirst, c!.bitsPerByte!.value], [0, 1, 0]);
  });

  it('have no interval where there is nothing to tell it from', () => {
    const [only] = besideEachOther([
      { model: 'a', pairs: [] },
      { model: 'b', pairs: [pair(0, 'get', true, 1)] },
    ]).differences;
    assert.deepEqual([only!.fidelity, only!.bitsPerByte], [null, null]);
  });
});
