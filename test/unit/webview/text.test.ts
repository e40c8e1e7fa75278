import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TokenView } from '../../../src/core/rehearsal/view.types';
import { duration, logprob, percent, probability } from '../../../webview/common/format';
import { boxText, flowText, kindOf, nameOf, spoken } from '../../../webview/common/text';
import { entropyLevel, probabilityLevel } from '../../../webview/session/heat';

const token = (text: string, more: Partial<TokenView> = {}): TokenView => ({
  node: 1,
  id: 7,
  text,
  logprob: -0.1,
  entropy: 0.2,
  rank: 1,
  origin: 'sampled',
  alternatives: [],
  ...more,
});

describe('panel: tokens as text', () => {
  it('shows newlines, and breaks the line where more follows', () => {
    assert.equal(flowText(token('}\n')), '}↵');
    assert.equal(flowText(token('a\n  b')), 'a↵\n  b');
    assert.equal(flowText(token('\n\n')), '↵↵');
    assert.equal(flowText(token('  ')), '··');
    assert.equal(flowText(token(' word')), ' word');
  });

  it('names an end token by its own name, and one without text by its id', () => {
    const end = token('', { end: 'stop' });
    const listed = { ...end, alternatives: [{ id: 7, text: '<|im_end|>', logprob: -0.1 }] };
    assert.equal(flowText(listed), '<|im_end|>');
    assert.equal(kindOf(end), 'end');
    assert.equal(spoken(nameOf(end)), 'end of output');
    assert.equal(nameOf(token('', { end: 'length' })), '<7>');
    assert.equal(boxText('', 7), '<7>');
  });

  it('says what has no letters', () => {
    assert.equal(spoken('#'), 'hash');
    assert.equal(spoken('{"'), 'left brace quote');
    assert.equal(spoken('\n'), 'new line');
    assert.equal(spoken(' status'), 'status');
    assert.equal(spoken('</tool_call>'), 'end tool call tag');
    assert.equal(spoken('a\tb'), 'a b');
    assert.equal(spoken('<\x07>'), '\\x07 tag');
  });

  it('never lets a control character or a change of direction through', () => {
    const control = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const shown of [flowText(token(text)), boxText(text, 1), spoken(text)]) {
          assert.doesNotMatch(shown, control);
        }
      }),
    );
  });
});

describe('panel: figures', () => {
  it('never rounds a probability to nothing or a loss to minus zero', () => {
    assert.equal(probability(Math.log(0.0625)), '0.063');
    assert.equal(probability(-20), '<0.001');
    assert.equal(percent(-20), 'under 1 percent');
    assert.equal(logprob(-0.0921), '−0.092');
    assert.equal(logprob(-0.0001), '0.000');
    assert.equal(duration(2.64), '2.6 s');
    assert.equal(duration(200.4), '3 min 20 s');
  });

  it('has five levels of heat, each with its lower bound in it', () => {
    const levels = [1, 0.95, 0.9499, 0.8, 0.5, 0.2, 0.1].map((p) => probabilityLevel(Math.log(p)));
    assert.deepEqual(levels, [0, 0, 1, 1, 2, 3, 4]);
    assert.deepEqual([0, 0.1, 0.11, 1, 2, 2.1].map(entropyLevel), [0, 0, 1, 2, 3, 4]);
    assert.equal(probabilityLevel(null), 0);
  });
});
