import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json } from '../../../../src/core/json';
import { combine, evaluate } from '../../../../src/core/reward/checks';
import type {
  Check,
  CheckResult,
  Transcript,
  TranscriptCall,
  Verdict,
} from '../../../../src/core/reward/types';

const READS = new Set(['get', 'find']);

function call(turn: number, tool: string, args: Json, more: Partial<TranscriptCall> = {}): TranscriptCall {
  return {
    turn,
    tool,
    arguments: args,
    valid: true,
    readOnly: READS.has(tool),
    outcome: 'result',
    value: {},
    ...more,
  };
}

function happened(calls: TranscriptCall[], answer: string | null = 'Done.'): Transcript {
  return { calls, answer, answerTurn: (calls.at(-1)?.turn ?? 0) + 1 };
}

function one(check: Check, transcript: Transcript): CheckResult {
  return evaluate({ checks: [check] }, transcript).checks[0]!;
}

const GET = { tool: 'get', arguments: { id: '#W1' } };
const CANCEL = { tool: 'cancel', arguments: { id: '#W1' } };
const both: Check = { kind: 'calls', expected: [GET, CANCEL] };

describe('the check of expected calls', () => {
  it('holds where each was made, in order, with reads between', () => {
    const result = one(
      both,
      happened([call(1, 'find', {}), call(2, 'get', { id: '#W1' }), call(3, 'cancel', { id: '#W1' })]),
    );
    assert.deepEqual([result.verdict, result.turn], ['holds', 3]);
  });

  it('says which argument differs, points at the turn, and shows only that in a diff', () => {
    const result = one(both, happened([call(1, 'get', { id: 'W1' }), call(2, 'cancel', { id: '#W1' })]));
    assert.equal(result.verdict, 'fails');
    assert.equal(result.reason, 'Turn 1 called get with id "W1", expected "#W1".');
    assert.equal(result.turn, 1);
    const differing = result
      .expected!.split('\n')
      .filter((line, i) => line !== result.actual!.split('\n')[i]);
    assert.deepEqual(differing, ['      "id": "#W1"']);
  });

  it('leaves arguments that are not named free, and tells a missing one from a different one', () => {
    const check: Check = { kind: 'calls', expected: [CANCEL] };
    assert.equal(one(check, happened([call(1, 'cancel', { id: '#W1', reason: 'late' })])).verdict, 'holds');
    assert.match(one(check, happened([call(1, 'cancel', {})])).reason, /without id, expected "#W1"/);
    const none: Check = {
      kind: 'calls',
      expected: [{ tool: 'cancel', arguments: { reason: { $absent: true } } }],
    };
    const extra = one(none, happened([call(1, 'cancel', { id: '#W1', reason: 'late' })]));
    assert.match(extra.reason, /with reason "late", expected no reason\.$/);
    const any: Check = { kind: 'calls', expected: [{ tool: 'cancel' }] };
    assert.equal(one(any, happened([call(1, 'cancel', { a: 1 })])).verdict, 'holds');
  });

  it('shows as different only what matters, also where the order of arguments differs', () => {
    const check: Check = {
      kind: 'calls',
      expected: [{ tool: 'send', arguments: { id: 1, to: { $regex: '@' } } }],
    };
    const result = one(check, happened([call(1, 'send', { note: 'x', to: 'a@b', id: 2 })]));
    const arguments_ = (side: string | undefined) => JSON.parse(side!)[0].arguments;
    assert.deepEqual(Object.entries(arguments_(result.expected)), [
      ['note', 'x'],
      ['to', 'a@b'],
      ['id', 1],
    ]);
    assert.deepEqual(arguments_(result.actual), { note: 'x', to: 'a@b', id: 2 });
  });

  it('says that a call was never made, made in another order, too seldom, or refused', () => {
    assert.match(
      one(both, happened([])).reason,
      /^get\(\{"id": "#W1"\}\) was never called; no call was made\.$/,
    );
    const swapped = happened([call(1, 'cancel', { id: '#W1' }), call(2, 'get', { id: '#W1' })]);
    assert.match(one(both, swapped).reason, /Turn 1 called cancel.* not in the expected order/);
    assert.equal(one({ ...both, ordered: false } as Check, swapped).verdict, 'holds');
    const twice: Check = { kind: 'calls', expected: [GET, GET] };
    assert.match(one(twice, happened([call(1, 'get', { id: '#W1' })])).reason, /get.* was never called/);
    const refused = one(
      { kind: 'calls', expected: [CANCEL] },
      happened([call(1, 'cancel', { id: '#W1' }, { valid: false })]),
    );
    assert.match(refused.reason, /a gate refused it/);
  });

  it('by default allows other reads and no other write', () => {
    const check: Check = { kind: 'calls', expected: [CANCEL] };
    const repeated = one(
      check,
      happened([call(1, 'cancel', { id: '#W1' }), call(2, 'cancel', { id: '#W1' })]),
    );
    assert.deepEqual([repeated.verdict, repeated.turn], ['fails', 2]);
    assert.match(
      repeated.reason,
      /once more, and besides the expected calls only read-only tools may be called/,
    );
    const tried = [
      call(1, 'cancel', { id: 'W1' }, { outcome: 'error', value: { error: 'no' } }),
      call(2, 'cancel', { id: '#W1' }),
    ];
    assert.equal(
      one(check, happened(tried)).verdict,
      'fails',
      'a write that the rehearsal refused was still tried',
    );
    assert.equal(one({ ...check, others: 'any' }, happened(tried)).verdict, 'holds');
    assert.equal(
      one({ ...check, others: 'none' }, happened([call(1, 'get', {}), call(2, 'cancel', { id: '#W1' })]))
        .verdict,
      'fails',
    );
    const refused = [call(1, 'cancel', {}, { valid: false }), call(2, 'cancel', { id: '#W1' })];
    assert.equal(
      one({ ...check, others: 'none' }, happened(refused)).verdict,
      'holds',
      'what a gate refused never ran',
    );
  });

  it('with nothing expected allows nothing else', () => {
    const none: Check = { kind: 'calls', expected: [], others: 'none' };
    assert.equal(one(none, happened([])).verdict, 'holds');
    assert.equal(one(none, happened([call(1, 'get', {})])).verdict, 'fails');
  });

  it('gives a broad matcher another call where a narrow one needs the first', () => {
    const expected = [{ tool: 'cancel', arguments: { id: { $any: true } } }, CANCEL];
    const calls = [call(1, 'cancel', { id: '#W1' }), call(2, 'cancel', { id: '#W2' })];
    assert.equal(one({ kind: 'calls', expected, ordered: false }, happened(calls)).verdict, 'holds');
    assert.equal(one({ kind: 'calls', expected, ordered: true }, happened(calls)).verdict, 'fails');
  });

  it('holds for exactly the calls it was made from, and for no shorter list', () => {
    const tools = fc.constantFrom('get', 'find', 'cancel', 'send');
    const lists = fc.array(fc.tuple(tools, fc.dictionary(fc.constantFrom('a', 'b'), fc.nat(3))), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(lists, fc.boolean(), (list, ordered) => {
        const calls = list.map(([tool, args], i) => call(i + 1, tool, args as Json));
        const expected = list.map(([tool, args]) => ({ tool, arguments: args }));
        const check: Check = { kind: 'calls', expected, ordered, others: 'none' };
        assert.equal(one(check, happened(calls)).verdict, 'holds');
        assert.equal(one(check, happened(calls.slice(1))).verdict, 'fails');
        if (!ordered) assert.equal(one(check, happened([...calls].reverse())).verdict, 'holds');
      }),
    );
  });
});

describe('other checks on calls', () => {
  it('forbidden: any call that has these arguments, whatever else it has', () => {
    const check: Check = { kind: 'forbidden', calls: [CANCEL] };
    const result = one(check, happened([call(4, 'cancel', { id: '#W1', reason: 'x' })]));
    assert.deepEqual([result.verdict, result.turn], ['fails', 4]);
    assert.match(result.reason, /Turn 4 called cancel.*forbidden/);
    assert.equal(one(check, happened([call(1, 'cancel', { id: '#W2' })])).verdict, 'holds');
    assert.equal(one(check, happened([call(1, 'cancel', { id: '#W1' }, { valid: false })])).verdict, 'holds');
  });

  it('maxCalls: points at the first call too many', () => {
    const result = one(
      { kind: 'maxCalls', max: 1 },
      happened([call(1, 'get', {}), call(2, 'get', {}, { valid: false })]),
    );
    assert.deepEqual([result.verdict, result.turn], ['fails', 2]);
    assert.equal(one({ kind: 'maxCalls', max: 0 }, happened([])).verdict, 'holds');
  });
});

describe('checks on the answer', () => {
  it('want all texts, as whole words and numbers', () => {
    const check: Check = { kind: 'answer', contains: ['HA381', '10'] };
    assert.equal(one(check, happened([], 'HA381 costs 10.')).verdict, 'holds');
    assert.match(one(check, happened([], 'HA381, 2010')).reason, /"10" as a whole word or number/);
    assert.match(one(check, happened([], '10')).reason, /does not contain "HA381"\.$/);
  });

  it('fail where there is none, and say so', () => {
    for (const check of [{ kind: 'answer', contains: 'x' }, { kind: 'answer' }] as Check[]) {
      assert.match(one(check, happened([], null)).reason, /no answer/);
    }
    assert.equal(one({ kind: 'answer' }, happened([], '')).verdict, 'holds');
  });

  it('match a pattern, and cannot be scored where it does not compile', () => {
    assert.equal(one({ kind: 'answer', pattern: '^done', ignoreCase: true }, happened([])).verdict, 'holds');
    assert.equal(one({ kind: 'answer', pattern: '^done' }, happened([])).verdict, 'fails');
    assert.equal(evaluate({ checks: [{ kind: 'answer', pattern: '(' }] }, happened([])).value, null);
  });

  it('satisfy a schema, also in a fence', () => {
    const check: Check = {
      kind: 'answer',
      schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    };
    assert.equal(one(check, happened([], ' {"n": 1} ')).verdict, 'holds');
    assert.equal(one(check, happened([], '```json\n{"n": 1}\n```')).verdict, 'holds');
    assert.match(one(check, happened([], '{"n": "1"}')).reason, /\/n must be integer/);
    assert.match(one(check, happened([], 'n is 1')).reason, /not JSON/);
    assert.equal(one({ kind: 'answer', schema: { type: 'dict' } }, happened([])).verdict, 'unscored');
  });

  it('fromResult: state a field of the last result of a tool', () => {
    const check: Check = { kind: 'fromResult', tool: 'get', path: '$.items[*].price' };
    const calls = [
      call(1, 'get', {}, { value: { items: [{ price: 1 }] } }),
      call(2, 'get', {}, { value: { items: [{ price: 64 }, { price: 7.5 }] } }),
      call(3, 'get', {}, { outcome: 'error', value: { error: 'gone' } }),
    ];
    assert.equal(one(check, happened(calls, 'It is 64 and 7.50.')).verdict, 'holds');
    assert.match(one(check, happened(calls, 'It is 64.')).reason, /does not state 7\.5/);
    assert.match(one(check, happened([])).reason, /gave no result/);
    assert.match(one({ ...check, path: '$.total' }, happened(calls)).reason, /nothing at \$\.total/);
    assert.equal(one({ ...check, path: '$.[' }, happened(calls)).verdict, 'unscored');
  });
});

describe('the reward', () => {
  const result = (verdict: Verdict, weight = 1, required = false) =>
    ({ verdict, weight, required }) as CheckResult;

  it('is the weighted share of checks that hold', () => {
    assert.equal(combine([result('holds', 3), result('fails', 1)]), 0.75);
    assert.equal(combine([result('holds'), result('holds')]), 1);
    assert.equal(combine([result('fails')]), 0);
    assert.equal(combine([0.1, 0.2, 0.3, 0.4, 0.7].map((weight) => result('holds', weight))), 1, 'exactly 1');
  });

  it('is 0 where a required check fails, whatever else holds', () => {
    assert.equal(combine([result('holds', 9), result('fails', 1, true)]), 0);
    assert.equal(combine([result('holds', 9), result('fails', 0, true)]), 0);
    assert.equal(combine([result('unscored'), result('fails', 1, true)]), 0, 'no score could change it');
  });

  it('is null, never 0, where it could not be scored or nothing is left', () => {
    assert.equal(combine([result('holds'), result('unscored')]), null);
    assert.equal(combine([result('fails'), result('unscored')]), null);
    assert.equal(combine([]), null);
    assert.equal(combine([result('left out', 1, true)]), null);
    assert.equal(combine([result('holds', 0)]), null);
    assert.equal(
      combine([result('holds'), result('unscored', 0)]),
      1,
      'a check without weight decides nothing',
    );
  });

  it('leaves out what only a real execution decides', () => {
    assert.equal(combine([result('holds'), result('left out', 5), result('fails')]), 0.5);
  });

  it('is a success only at 1, and names every check', () => {
    const task = {
      checks: [
        both,
        { kind: 'answer', contains: 'Done', name: 'says so' },
        { kind: 'maxCalls', max: 2, weight: 2 },
      ] as Check[],
    };
    const reward = evaluate(
      task,
      happened([call(1, 'get', { id: '#W1' }), call(2, 'cancel', { id: '#W1' })]),
    );
    assert.deepEqual([reward.value, reward.success], [1, true]);
    assert.deepEqual(
      reward.checks.map((c) => [c.index, c.title, c.weight, c.required]),
      [
        [0, 'calls get({"id": "#W1"}), then cancel({"id": "#W1"})', 1, false],
        [1, 'says so', 1, false],
        [2, 'at most 2 calls', 2, false],
      ],
    );
    assert.equal(evaluate(task, happened([])).success, false);
  });

  it('of an unknown check is null with the reason, not an exception', () => {
    const reward = evaluate(
      { checks: [{ kind: 'finalState' } as unknown as Check, { kind: 'calls' } as unknown as Check] },
      happened([]),
    );
    assert.equal(reward.value, null);
    assert.match(reward.checks[0]!.reason, /no check of kind "finalState"/);
  });
});
