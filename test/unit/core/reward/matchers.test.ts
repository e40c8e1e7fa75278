import assert from 'node:assert/strict';
import fc from 'fast-check';
import { equalJson, type Json, type JsonObject } from '../../../../src/core/json';
import { matcherKey, matcherProblem, matches, resolved } from '../../../../src/core/reward/matchers';

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Json;

/** `[matcher, values it holds for, values it does not hold for]` */
const CASES: [Json, (Json | undefined)[], (Json | undefined)[]][] = [
  ['a', ['a'], ['A', ' a', 1, null, undefined]],
  [1, [1, 1.0], ['1', true, undefined]],
  [null, [null], [undefined, 0, '']],
  [{ a: 1, b: [2] }, [{ b: [2], a: 1 }], [{ a: 1 }, { a: 1, b: [2], c: 3 }, { a: 1, b: [2, 3] }, [1]]],
  [[1, 2], [[1, 2]], [[2, 1], [1], { 0: 1, 1: 2 }]],
  [{ $any: true }, ['a', null, {}], [undefined]],
  [{ $absent: true }, [undefined], [null, '', 0]],
  [{ $absent: false }, [null, 'a'], [undefined]],
  [{ $regex: '^#W\\d+$' }, ['#W1'], ['W1', '#W', 1, undefined]],
  [{ $regex: '(' }, [], ['(', '']],
  [{ $oneOf: ['a', { $number: { min: 3 } }] }, ['a', 3], ['b', 2, undefined]],
  [{ $oneOf: [{ $absent: true }, 'metric'] }, [undefined, 'metric'], ['imperial', null]],
  [{ $number: { value: 10 } }, [10, 10.000000000001], ['10', 2010, 10.01]],
  [{ $number: { value: 10, tolerance: 0.5 } }, [10.5, 9.5], [10.6, 9]],
  [{ $number: { value: 45.16 } }, [45.160000000000004], [45.17]],
  [{ $number: { min: 0, max: 1 } }, [0, 1, 0.5], [-0.1, 1.1, '0.5']],
  [
    { $text: { value: ' Oak  Street', ignoreCase: true, trim: true } },
    ['oak street ', 'OAK\nSTREET'],
    ['oak', 1],
  ],
  [{ $text: { value: 'é' } }, ['é', 'e\u0301'], ['É', 'e']],
  [{ $contains: ['a', { $regex: '^b' }] }, [['bb', 'x', 'a']], [['a'], 'ab', undefined]],
  [
    { list: [{ id: { $any: true } }] },
    [{ list: [{ id: 7 }] }],
    [{ list: [] }, { list: [{}] }, { list: [{ id: 7, x: 1 }] }],
  ],
];

describe('matchers', () => {
  for (const [matcher, yes, no] of CASES) {
    it(JSON.stringify(matcher), () => {
      for (const value of yes)
        assert.equal(matches(matcher, value), true, `holds for ${JSON.stringify(value)}`);
      for (const value of no)
        assert.equal(matches(matcher, value), false, `not for ${JSON.stringify(value)}`);
    });
  }

  it('never throw on a malformed rule, and say what is wrong with it', () => {
    const rules = fc.constantFrom('$any', '$regex', '$oneOf', '$number', '$text', '$absent', '$contains');
    fc.assert(
      fc.property(rules, fc.jsonValue(), fc.jsonValue(), (key, rule, actual) => {
        const matcher = { [key]: rule } as JsonObject;
        assert.equal(typeof matches(matcher, actual as Json), 'boolean');
        assert.ok(matcherProblem(matcher) === null || typeof matcherProblem(matcher) === 'string');
        resolved(matcher, actual as Json);
      }),
    );
    assert.match(matcherProblem({ a: [{ $regx: 'x' }] })!, /no matcher \$regx/);
    assert.match(matcherProblem({ $any: true, also: 1 })!, /only key/);
    assert.equal(matcherProblem({ price: { $number: { min: 1 } } }), null);
  });

  it('a literal holds for itself and for nothing else', () => {
    const literals = fc
      .jsonValue({ maxDepth: 3 })
      .map(plain)
      .filter((value) => !JSON.stringify(value).includes('"$'));
    fc.assert(
      fc.property(literals, literals, (a, b) => {
        assert.equal(matches(a, a), true);
        assert.equal(matches(a, b), equalJson(a, b));
        assert.equal(matcherKey(a), null);
      }),
    );
  });

  it('show what was found in place of a rule that holds', () => {
    const matcher = {
      id: '#W1',
      note: { $any: true },
      unit: { $oneOf: [{ $absent: true }, 'm'] },
      n: { $number: { min: 5 } },
    };
    assert.deepEqual(resolved(matcher, { id: 'W1', note: 'x', n: 3 }), {
      id: '#W1',
      note: 'x',
      n: { $number: { min: 5 } },
    });
  });
});
