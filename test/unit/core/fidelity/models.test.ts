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

describe('two models on the same calls', () => {
  it('count the calls that both were compared on, whatever their order', () => {
    const summary = besideEachOther(
      { model: 'a', pairs: [pair(0, 'get', true, 1), pair(1, 'get', true, 1), pair(2, 'put', false, 3)] },
      { model: 'b', pairs: [pair(2, 'put', true, 1), pair(0, 'get', false, 5), pair(7, 'put', true, 9)] },
    );
    const { models, calls, fidelity, surprise, tools, onlyFirst, onlySecond } = summary;
    assert.deepEqual([models, calls, onlyFirst, onlySecond], [['a', 'b'], 2, 1, 1]);
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
    const { calls, surprise } = besideEachOther(
      { model: 'a', pairs: [pair(0, 'get', true, 2), wrong] },
      { model: 'b', pairs: [pair(0, 'get', true, null), pair(1, 'get', false, null)] },
    );
    assert.equal(calls, 1);
    assert.equal(surprise[0]!.bits, 2);
    assert.equal(surprise[1], null);
  });
});
