import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { constants } from '../../../server/nano/corpus/constants';
import { corpus, KINDS, type Kind, makeDocument } from '../../../server/nano/corpus/corpus';
import { environmentOf, flightsWorld, shopWorld } from '../../../server/nano/corpus/examples';
import { Random } from '../../../server/nano/corpus/random';
import { parseAct } from '../../../src/core/conversation/parse';
import { REHEARSE_ROLE, RESULT_OPEN, rehearseSystem } from '../../../src/core/conversation/prompts';
import { parseResult } from '../../../src/core/conversation/result';
import { loadEnvironment } from '../../../src/core/environment/load';

const shares = Object.fromEntries(KINDS.map((kind) => [kind, 1])) as Record<Kind, number>;

describe('corpus of nano', () => {
  it('is the same for the same seed and another for another', () => {
    const text = (seed: number) => JSON.stringify([...corpus(seed, 60, shares)]);
    assert.equal(text(7), text(7));
    assert.notEqual(text(7), text(8));
  });

  it('calls in a form that the product parses, and rehearses answers that it parses', () => {
    for (const document of corpus(3, 120, shares)) {
      const masked = new Set(document.masked ?? []);
      document.messages.forEach((message, index) => {
        if (message.role !== 'assistant' || masked.has(index)) return;
        const rehearsed = message.content.startsWith(RESULT_OPEN);
        if (rehearsed) assert.ok(parseResult(message.content).ok, message.content);
        const { items } = parseAct(message.content, 'hermes');
        const followed = document.messages[index + 1]?.role === 'tool';
        if (followed) assert.equal(items[0]?.kind, 'call', message.content);
        else if (document.kind !== 'copy') assert.equal(items.length, 0, message.content);
      });
    }
  });

  it("writes REHEARSE's prompt as core writes it", () => {
    const random = new Random(5);
    const systems = Array.from(
      { length: 40 },
      () => makeDocument('rehearse-shop', random, 'train').messages[0]?.content,
    );
    const asIs = environmentOf({ name: 'shop', policy: shopWorld.policy, tools: shopWorld.tools });
    assert.ok(systems.includes(rehearseSystem(asIs)), 'no document has the shop as it stands');
    assert.ok(systems.every((text) => text?.startsWith(REHEARSE_ROLE.join('\n'))));
  });

  it('holds the sentences of the prompts among the constants of the tokenizer', () => {
    for (const sentence of REHEARSE_ROLE) assert.ok(constants().sentences.includes(sentence));
    assert.ok(constants().tags.includes(RESULT_OPEN));
  });

  it('reads the examples as the product does', async () => {
    for (const world of [shopWorld, flightsWorld]) {
      const file = (name: string) =>
        readFileSync(new URL(`../../../examples/${world.name}/${name}`, import.meta.url), 'utf8');
      const path = `${world.name}.rehearsal.json`;
      const { environment, diagnostics } = await loadEnvironment(file(path), {
        path,
        read: async (name) => file(name),
      });
      assert.deepEqual(diagnostics, []);
      assert.equal(environment?.policy, world.policy);
      assert.deepEqual(environment?.tools, world.tools);
      assert.ok((environment?.tasks.length ?? 0) >= 2);
    }
  });
});

describe('example tools', () => {
  const state = (name: string) =>
    JSON.parse(readFileSync(new URL(`../../../examples/${name}/db.json`, import.meta.url), 'utf8'));

  it('refuse an order id without its #', () => {
    assert.throws(
      () => shopWorld.module.get_order?.({ order_id: 'W4284542' }, state('shop')),
      /Order not found/,
    );
  });

  it('cancel and redirect pending orders only', () => {
    const shop = state('shop');
    assert.throws(() => shopWorld.module.cancel_order?.({ order_id: '#W7263910' }, shop), /shipped/);
    shopWorld.module.cancel_order?.({ order_id: '#W4284542' }, shop);
    assert.equal(shop.orders['#W4284542'].status, 'cancelled');
    assert.throws(
      () =>
        shopWorld.module.change_address?.({ order_id: '#W4284542', address: '1 High Street, Lyon' }, shop),
      /cancelled/,
    );
  });

  it('refuse every change of a basic-economy reservation', () => {
    const desk = state('flights');
    const change = (reservation_id: string) =>
      flightsWorld.module.change_flight?.({ reservation_id, flight: 'HA381' }, desk);
    assert.throws(() => change('EHGLP3'), /Basic economy/);
    assert.deepEqual(change('Q69X3R'), { reservation_id: 'Q69X3R', flight: 'HA381', status: 'changed' });
  });

  it('answer the recorded calls as they are recorded', () => {
    for (const world of [shopWorld, flightsWorld]) {
      const lines = readFileSync(
        new URL(`../../../examples/${world.name}/calls.jsonl`, import.meta.url),
        'utf8',
      );
      for (const line of lines.trim().split('\n')) {
        const record = JSON.parse(line);
        if (record.afterWrite) continue;
        let value: unknown;
        try {
          value = world.module[record.tool]?.(record.arguments, state(world.name));
        } catch (error) {
          value = { error: (error as Error).message };
        }
        assert.deepEqual(value, record.value, line);
      }
    }
  });
});
