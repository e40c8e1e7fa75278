/**
 * A live session over the real core, on a model in memory that can be made to hang, to die in mid-stream and to
 * count what it was asked for.
 */

import path from 'node:path';
import { createRenderer } from '../../../../src/core/conversation/render';
import { DEFAULTS } from '../../../../src/core/environment/schema';
import type { Environment, ExecutorConfig, Tool } from '../../../../src/core/environment/types';
import type { JsonObject } from '../../../../src/core/json';
import type { Policy, SampleRequest, Signal } from '../../../../src/core/policy';
import type { Ports } from '../../../../src/core/rehearsal/drivers';
import { Session, type SessionRecord } from '../../../../src/core/rehearsal/session';
import type { Setup } from '../../../../src/core/rehearsal/types';
import { UserError } from '../../../../src/core/user-error';
import type { RealExecutor } from '../../../../src/features/services';
import { LiveSession } from '../../../../src/features/session/live';
import { createExecutor, type ToolCall } from '../../../../src/node/tools';
import { MemoryPolicy, type Script } from '../memory-policy';

const FIXTURES = path.resolve(import.meta.dirname, '../../../fixtures/tools');
const text = { type: 'string' };

function tool(name: string, properties: JsonObject, readOnly: boolean): Tool {
  const parameters = { type: 'object', properties, required: Object.keys(properties) };
  return { name, description: `Does ${name}.`, parameters, readOnly };
}

export const ENVIRONMENT: Environment = {
  name: 'shop',
  policy: 'You help customers of a shop.',
  tools: [
    tool('get_order', { order_id: text }, true),
    tool('cancel_order', { order_id: text, reason: text }, false),
  ],
  examples: [],
  ignore: [],
  tasks: [
    {
      id: 'cancel W42',
      instruction: 'Cancel order W42.',
      user: [],
      checks: [
        {
          kind: 'calls',
          expected: [{ tool: 'cancel_order', arguments: { order_id: '#W42' } }],
          others: 'any',
          name: 'cancels the order',
        },
        { kind: 'answer', contains: 'cancelled' },
      ],
    },
  ],
  ...DEFAULTS,
  maxTurns: 10,
  limits: { act: 400, rehearse: 400 },
};

const call = (name: string, args: string) =>
  `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
const result = (json: string) => `<execution_result>${json}</execution_result>`;

/** First without the #, which the environment refuses; then right, then a call that fails the schema gate. */
export const SHOP: Script = (conversation) => {
  const last = conversation.slice(conversation.lastIndexOf('<|end|>', conversation.length - 21));
  const asked = /Call: (.*)<\|end\|>/.exec(last)?.[1];
  if (asked?.startsWith('cancel_order')) return [result('{"status": "cancelled"}')];
  if (asked?.includes('#')) return [result('{"status": "pending"}'), result('{"status": "delivered"}')];
  if (asked) return [result('{"error": "Order not found"}')];
  if (last.includes('not found')) return [call('get_order', '{"order_id": "#W42"}')];
  if (last.includes('pending')) return [call('cancel_order', '{"order_id": "#W42"}')];
  if (last.includes('INVALID')) return [call('cancel_order', '{"order_id": "#W42", "reason": "late"}')];
  if (last.includes('"cancelled"')) return ['Order #W42 is cancelled.'];
  return [call('get_order', '{"order_id": "W42"}'), call('get_order', '{"order_id": "#W42"}')];
};

export const FIRST_CALL = call('get_order', '{"order_id": "W42"}');
export const FIRST_RESULT = result('{"error": "Order not found"}');

export interface Faults {
  /** Not reached at all. */
  missing?: boolean;
  /** Gives this many tokens of a stream, and then ends the connection. */
  dieAfter?: number;
  /** Gives this many tokens of a stream, and then nothing more. */
  hangAfter?: number;
}

export class Scripted {
  readonly faults: Faults = {};
  /** Tokens that the policy has given. */
  given = 0;
  connects = 0;
  /** Streams that were cancelled. */
  cancelled = 0;
  readonly setup: Setup;
  executor: ExecutorConfig = { kind: 'module', path: 'order-module.mjs', timeoutSeconds: 120 };
  /** What the person answers where a call is to be executed, and what was asked. */
  allows = true;
  readonly asked: ToolCall[] = [];
  private readonly memory: MemoryPolicy;

  constructor(script: Script = SHOP, change: Partial<Environment> = {}) {
    this.memory = new MemoryPolicy(script);
    const environment = { ...ENVIRONMENT, ...change };
    const sampling = { temperature: 1, topP: 1, topK: -1, minP: 0 };
    const options = { seed: 1, alternatives: 5, priority: 0, observations: 'rehearse' as const, ...sampling };
    this.setup = { environment, task: environment.tasks[0]!, options, policy: this.memory.info };
  }

  live(records: SessionRecord[] = []): LiveSession {
    let live: LiveSession | undefined;
    const session = new Session(this.setup, (record) => {
      records.push(record);
      live?.noted(record);
    });
    live = new LiveSession({
      id: '2026-11-29T15-40-12-1',
      file: '/sessions/2026-11-29T15-40-12-1.jsonl',
      environmentFile: '/examples/shop.rehearsal.json',
      session,
      tools: this.tools(),
      connect: async () => this.ports(),
    });
    return live;
  }

  /** The tools of a real module, which the person allows or not. */
  tools() {
    const { environment } = this.setup;
    return {
      environment: async () => ({ ...environment, executor: this.executor }),
      executorFor: (of: Environment): RealExecutor => {
        const executor = createExecutor({ environment: of, folder: FIXTURES });
        return Object.assign(executor, {
          allow: async (_tools: unknown, made?: ToolCall) => {
            this.asked.push(made!);
            return this.allows;
          },
        });
      },
    };
  }

  /** As the server connection gives it: throws where there is none. */
  policy(): Policy {
    this.connects++;
    if (this.faults.missing) throw new UserError('No server answers at http://127.0.0.1:1.', 'Start it.');
    const { memory } = this;
    return {
      info: memory.info,
      render: (request) => memory.render(request),
      decode: (ids) => memory.decode(ids),
      sample: (request, signal) => this.sample(request, signal),
    };
  }

  private ports(): Ports {
    const policy = this.policy();
    return { policy, render: createRenderer(policy) };
  }

  private async *sample(request: SampleRequest, signal?: Signal) {
    let count = 0;
    for await (const token of this.memory.sample(request)) {
      if (count === this.faults.dieAfter)
        throw new UserError(`The server died after ${count} tokens.`, 'Continue.');
      if (count === this.faults.hangAfter)
        await new Promise<void>((ok) => signal?.addEventListener('abort', ok));
      // Tokens of a server arrive one by one; whoever pauses gets a turn in between.
      await new Promise((ok) => setImmediate(ok));
      if (signal?.aborted) {
        this.cancelled++;
        return;
      }
      count++;
      this.given++;
      yield token;
    }
  }
}

/** Tokens of the branch shown up to the cursor, joined. */
export function textAt(live: LiveSession): string {
  const texts = live.session.path().map(({ reply }) => (reply?.kind === 'token' ? reply.token.text : ''));
  return texts.join('');
}
