/**
 * Incremental rendering against the whole template, on the tokenizers and templates of five model families,
 * through the real engine: what grows piece by piece is what the template gives at once.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import fc from 'fast-check';
import { openAiFunction } from '../../../../src/core/conversation/prompts';
import { callId, createRenderer, TemplateError } from '../../../../src/core/conversation/render';
import { probeTemplate } from '../../../../src/core/conversation/template';
import type { Message } from '../../../../src/core/conversation/types';
import { formatJson, type JsonObject } from '../../../../src/core/json';
import type { Policy } from '../../../../src/core/policy';
import { ModelServer } from '../../../../src/node/policies/http';
import { modelCards } from '../../../../src/node/policies/models';
import { findRender } from '../../../../src/node/policies/templates';
import { ensureServer, stopServer } from '../../../../src/node/server/ensure';
import { memoryPolicy } from '../../support/memory-policy';
import { python, ROOT, serverOptions, temporary, tinyModel } from '../../support/server';

const TOOL = {
  name: 'switch',
  description: 'Switches a lamp.',
  parameters: { type: 'object', properties: { lamp: { type: 'string' } } },
  readOnly: false,
};

interface Call {
  name: string;
  arguments: JsonObject;
}

/** What a family's models write, so that its template would write the same. */
interface Family {
  dialect: string;
  showsTools: boolean;
  /** Most calls in one message; 0 where the template has no place for tools' answers. */
  calls: number;
  /** Whether a second user message leaves what stands before as it is. */
  users: boolean;
  answer(text: string): string;
  call(calls: Call[]): string;
}

const hermes = (calls: Call[]) =>
  calls.map((call) => `<tool_call>\n${formatJson({ ...call })}\n</tool_call>`).join('\n');
const plain = (text: string) => text;

const FAMILIES: { [name: string]: Family } = {
  qwen3: { dialect: 'hermes', showsTools: true, calls: 3, users: true, answer: plain, call: hermes },
  chatml: {
    dialect: 'hermes',
    showsTools: false,
    calls: 3,
    users: true,
    answer: plain,
    call: (calls) => `\n${hermes(calls)}`,
  },
  llama3: {
    dialect: 'llama',
    showsTools: true,
    calls: 1,
    users: true,
    answer: plain,
    call: ([call]) => formatJson({ name: call!.name, parameters: call!.arguments }),
  },
  mistral: {
    dialect: 'mistral',
    showsTools: true,
    calls: 3,
    users: false, // its template moves the tools to the last user message
    answer: (text) => ` ${text}`,
    call: (calls) =>
      `[TOOL_CALLS] [${calls.map((call, i) => formatJson({ ...call, id: callId(i) })).join(', ')}]`,
  },
  gemma: { dialect: 'hermes', showsTools: false, calls: 0, users: true, answer: plain, call: hermes },
};

/** One turn of a conversation: calls with their results, or an answer and the user's next message. */
type Turn = { calls: Call[]; results: string[] } | { answer: string; user: string };

const word = fc.stringMatching(/^[a-zA-Z0-9é"\\{}#☃]{1,6}$/);
const text = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '));
const lines = fc.array(text, { minLength: 1, maxLength: 3 }).map((list) => list.join('\n'));
const call: fc.Arbitrary<Call> = fc.record({
  name: fc.constantFrom('switch', 'look_up'),
  arguments: fc.dictionary(word, fc.oneof(text, fc.integer())),
});

function turns({ calls, users }: Family): fc.Arbitrary<Turn[]> {
  const kinds: fc.Arbitrary<Turn>[] = [];
  if (users) kinds.push(fc.record({ answer: lines, user: lines }));
  if (calls > 0) {
    const many = fc.array(fc.tuple(call, fc.dictionary(word, text)), { minLength: 1, maxLength: calls });
    kinds.push(
      many.map((list) => ({
        calls: list.map(([one]) => one),
        results: list.map(([, value]) => formatJson(value)),
      })),
    );
  }
  return fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 4 });
}

describe('incremental rendering', function () {
  this.timeout(240_000);
  const home = temporary('home');
  let server: ModelServer;

  before(async () => {
    const folder = temporary('templates');
    await python([path.join(ROOT, 'test/fixtures/templates/make.py'), folder]);
    const models = [
      `tiny=${await tinyModel()}`,
      ...Object.keys(FAMILIES).map((name) => `${name}=${path.join(folder, name)}`),
    ];
    const { url, token } = await ensureServer(await serverOptions(home, { models }));
    server = new ModelServer({ baseUrl: url, apiKey: token });
  });

  after(() => stopServer(home));

  async function policyOf(name: string): Promise<Policy & { encode(written: string): Promise<number[]> }> {
    const { endIds } = (await modelCards(server)).find((card) => card.id === name)!;
    const render = (await findRender(server, name))!;
    const post = async (route: string, body: object) =>
      (await server.post(route, { model: name, ...body })) as { tokens: number[]; prompt: string };
    const decode = async (ids: readonly number[]) => (await post('/detokenize', { tokens: ids })).prompt;
    const encode = async (written: string) =>
      (await post('/tokenize', { prompt: written, add_special_tokens: false })).tokens;
    const info = { ...memoryPolicy({ act: [] }).info, model: name, endIds };
    return { info, render, decode, encode, sample: () => assert.fail('nothing is sampled here') };
  }

  for (const [name, family] of Object.entries(FAMILIES)) {
    describe(`of ${name}`, () => {
      it('knows what the template does with tools and calls', async () => {
        const facts = await probeTemplate(await policyOf(name));
        assert.equal(facts.dialect, family.dialect);
        assert.equal(facts.templateShowsTools, family.showsTools);
      });

      it('gives the ids of the whole template, turn after turn', async () => {
        const policy = await policyOf(name);
        const render = createRenderer(policy);
        const tools = family.showsTools ? [TOOL] : undefined;
        const [end] = policy.info.endIds;
        const property = fc.asyncProperty(
          turns(family),
          fc.boolean(),
          fc.boolean(),
          async (list, system, cut) => {
            const messages: Message[] = [{ role: 'user', content: 'Hello.' }];
            if (system) messages.unshift({ role: 'system', content: 'Be brief.' });
            const ids = await render({ messages: [...messages], tools, after: null });
            for (const turn of list) {
              const output = 'answer' in turn ? family.answer(turn.answer) : family.call(turn.calls);
              const sampled = await policy.encode(output);
              const added = messagesOf(turn);
              // An output that the limit cut lacks its end token: the template's comes with what follows.
              const segment = await render({ messages: added.slice(1), after: cut ? 'length' : 'stop' });
              ids.push(...sampled, ...(cut ? [] : [end!]), ...segment);
              messages.push(...added);
            }
            const whole = await policy.render({ messages, tools, generationPrompt: true });
            assert.equal(await policy.decode(ids), await policy.decode(whole));
            assert.deepEqual(ids, whole);
          },
        );
        await fc.assert(property, { numRuns: 12 });
      });
    });
  }

  it('asks for tools in the form that templates expect', async () => {
    const policy = await policyOf('qwen3');
    const ids = await policy.render({
      messages: [{ role: 'user', content: 'a' }],
      tools: [TOOL],
      generationPrompt: true,
    });
    assert.ok(
      (await policy.decode(ids)).includes(formatJson({ type: 'function', function: openAiFunction(TOOL) })),
    );
  });

  it('says so where a template has no place for what is to be rendered', async () => {
    const render = createRenderer(await policyOf('gemma'));
    const message: Message = { role: 'tool', name: 'switch', content: '{}', tool_call_id: callId(0) };
    await assert.rejects(
      render({ messages: [message], after: 'stop' }),
      /chat template of gemma.*roles must alternate/,
    );
  });
});

describe('what was rendered before', () => {
  it('is not asked for again, and differs by tools and by what stands before it', async () => {
    const memory = memoryPolicy({ act: [] });
    let asked = 0;
    const render = createRenderer({
      ...memory,
      render: (request, signal) => {
        asked++;
        return memory.render(request, signal);
      },
    });
    const messages: Message[] = [{ role: 'user', content: 'a' }];
    const first = await render({ messages, tools: [TOOL], after: null });
    const other = await render({ messages, after: null });
    const later = await render({ messages, after: 'stop' });
    assert.notDeepEqual(first, other);
    assert.notDeepEqual(other, later);
    const before = asked;
    assert.deepEqual(await render({ messages: [...messages], tools: [TOOL], after: null }), first);
    assert.deepEqual(await render({ messages, after: 'stop' }), later);
    assert.equal(asked, before);
  });
});

describe('a template without an end token', () => {
  it('cannot grow token by token, and says so', async () => {
    const policy = memoryPolicy({ act: [] }, { endIds: [999] });
    await assert.rejects(
      createRenderer(policy)({ messages: [{ role: 'user', content: 'a' }], after: 'stop' }),
      TemplateError,
    );
  });
});

function messagesOf(turn: Turn): Message[] {
  if ('answer' in turn)
    return [
      { role: 'assistant', content: turn.answer },
      { role: 'user', content: turn.user },
    ];
  const calls = turn.calls.map(({ name, arguments: args }, i) => ({
    id: callId(i),
    type: 'function' as const,
    function: { name, arguments: args },
  }));
  const results = turn.results.map(
    (content, i): Message => ({ role: 'tool', name: turn.calls[i]!.name, tool_call_id: callId(i), content }),
  );
  return [{ role: 'assistant', content: '', tool_calls: calls }, ...results];
}
