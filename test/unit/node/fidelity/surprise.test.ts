/** Surprise of real answers: on a policy whose probabilities are known, and on the real engine. */
import assert from 'node:assert/strict';
import path from 'node:path';
import type { ComparedCall } from '../../../../src/core/fidelity/comparison';
import { surpriseSummary } from '../../../../src/core/fidelity/surprise';
import { formatJson } from '../../../../src/core/json';
import type { Policy, ScoreRequest } from '../../../../src/core/policy';
import { DEFAULT_OPTIONS } from '../../../../src/core/rehearsal/options';
import { usableEnvironment } from '../../../../src/node/environments';
import { compareTargets } from '../../../../src/node/fidelity/compare';
import { connectPolicy } from '../../../../src/node/policies/connect';
import { chatml, idsOf, memoryPolicy, textOf } from '../../support/memory-policy';
import { sharedServer } from '../../support/server';
import { ROOT } from '../tools/support';

const FILE = path.join(ROOT, 'examples/shop/shop.rehearsal.json');

async function compared(policy: Policy, most = 3): Promise<ComparedCall[]> {
  const environment = await usableEnvironment(FILE);
  const pairs: ComparedCall[] = [];
  const records = environment.examples.filter(({ afterWrite }) => !afterWrite).slice(0, most);
  await compareTargets(
    records.map((example) => ({ kind: 'call', example })),
    {
      environment: { ...environment, limits: { ...environment.limits, rehearse: 16 } },
      policy,
      executor: null,
      sampling: DEFAULT_OPTIONS,
      concurrency: 2,
      surprise: true,
      onPair: (pair) => pairs.push(pair),
      onUncompared: ({ reason }) => assert.fail(reason),
    },
  );
  return pairs.sort((a, b) => a.index - b.index);
}

/** Every byte costs one bit. */
function knownPolicy(change: Partial<Policy> = {}, info: Partial<Policy['info']> = {}) {
  const asked: ScoreRequest[] = [];
  const policy: Policy = {
    ...memoryPolicy({ act: [], rehearse: ['<execution_result>{"a": 1}</execution_result>'] }),
    encode: async (text) => idsOf(text),
    score: async (request) => {
      asked.push(request);
      return request.ids.map((id) => ({
        id,
        text: String.fromCharCode(id),
        bytes: [id],
        logprob: -Math.LN2,
      }));
    },
    ...change,
  };
  return { asked, policy: { ...policy, info: { ...policy.info, canScore: true, ...info } } };
}

describe('surprise of real answers', function () {
  this.timeout(120_000);

  it('is that of the answer without its tags, behind the prompt that asked for it', async () => {
    const { policy, asked } = knownPolicy();
    const pairs = await compared(policy);
    assert.equal(pairs.length, 3);
    for (const { real, surprise } of pairs) {
      const bytes = Buffer.byteLength(formatJson(real.value));
      const { bits, tokens, bitsPerToken, bitsPerByte, marks } = surprise!;
      assert.deepEqual([Math.round(bits), tokens], [bytes, bytes]);
      assert.ok(Math.abs(bitsPerToken! - 1) < 1e-9 && Math.abs(bitsPerByte! - 1) < 1e-9);
      const counted = marks.filter((mark) => mark.counted).map(({ text }) => text);
      assert.equal(Buffer.from(counted.join(''), 'latin1').toString(), formatJson(real.value));
    }
    for (const { prompt, ids } of asked) {
      assert.match(textOf(prompt), /Call: \w+ \{.*\}<\|im_end\|>\n<\|im_start\|>assistant\n$/);
      assert.match(textOf(ids), /^<execution_result>.*<\/execution_result>$/);
    }
    const summary = surpriseSummary(pairs)!;
    assert.equal(
      summary.tokens,
      pairs.reduce((sum, { surprise }) => sum + surprise!.tokens, 0),
    );
    assert.deepEqual(
      [...new Set(pairs.map(({ tool }) => tool))],
      summary.tools.map(({ tool }) => tool),
    );
  });

  it('puts an empty reasoning block first, as the template writes it', async () => {
    const empty = '<think>\n\n</think>\n\n';
    const qwen: Policy['render'] = async (request) => {
      const text = chatml(request);
      return idsOf(text.replace(/(<\|im_start\|>assistant\n)([^<]*<\|im_end\|>\n)$/, `$1${empty}$2`));
    };
    const { policy, asked } = knownPolicy({ render: qwen });
    await compared(policy, 1);
    assert.ok(textOf(asked[0]!.prompt).endsWith(`assistant\n${empty}`));
    const opened = knownPolicy({}, { opensReasoning: true });
    await compared(opened.policy, 1);
    assert.ok(textOf(opened.asked[0]!.prompt).endsWith('assistant\n\n</think>\n\n'));
  });

  it('is told where one answer cannot be scored, and absent where the server cannot score at all', async () => {
    const { policy } = knownPolicy({ score: () => Promise.reject(new Error('too long')) });
    const pairs = await compared(policy);
    assert.deepEqual(
      pairs.map(({ surprise, unscored }) => [surprise, unscored]),
      pairs.map(() => [undefined, 'too long']),
    );
    assert.equal(surpriseSummary(pairs)!.unscored, 3);
    assert.equal(surpriseSummary(pairs)!.bitsPerToken, null);
    const none = await compared(knownPolicy({}, { canScore: false }).policy);
    assert.ok(none.every(({ surprise, unscored }) => surprise === undefined && unscored === undefined));
    assert.equal(surpriseSummary(none), null);
  });

  it('comes from the real engine: a text that no model learned costs bits', async () => {
    const server = await sharedServer();
    const policy = await connectPolicy({ baseUrl: server.url, apiKey: server.token });
    const pairs = await compared(policy, 2);
    assert.ok(pairs.length > 0);
    for (const { real, surprise, unscored } of pairs) {
      assert.equal(unscored, undefined);
      assert.equal(surprise!.gaps, 0);
      assert.equal(surprise!.bytes, Buffer.byteLength(formatJson(real.value)));
      assert.ok(surprise!.bitsPerToken! > 1);
    }
  });
});
