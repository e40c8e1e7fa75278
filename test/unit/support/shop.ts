/** A small environment in memory, like `examples/shop`. */
import { DEFAULTS } from '../../../src/core/environment/schema';
import type { Environment, Task, Tool } from '../../../src/core/environment/types';
import { DEFAULT_OPTIONS } from '../../../src/core/rehearsal/options';
import type { RehearsalOptions, Setup } from '../../../src/core/rehearsal/types';
import { INFO } from './memory-policy';

const tool = (name: string, readOnly: boolean): Tool => ({
  name,
  description: `Does ${name}.`,
  readOnly,
  parameters: { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'] },
});

export const TASK: Task = {
  id: 'cancel',
  instruction: 'Cancel order #W1 if it has not shipped.',
  user: [],
  checks: [
    {
      kind: 'calls',
      expected: [
        { tool: 'get_order', arguments: { order_id: '#W1' } },
        { tool: 'cancel_order', arguments: { order_id: '#W1' } },
      ],
    },
    { kind: 'answer', contains: 'cancelled' },
  ],
};

export const SHOP: Environment = {
  name: 'shop',
  policy: 'Be helpful.',
  tools: [tool('get_order', true), tool('cancel_order', false)],
  examples: [
    {
      tool: 'get_order',
      arguments: { order_id: '#W2' },
      outcome: 'result',
      value: { order_id: '#W2', status: 'delivered' },
      afterWrite: false,
      part: 'train',
    },
  ],
  ignore: [],
  tasks: [TASK],
  ...DEFAULTS,
  maxTurns: 8,
  limits: { act: 400, rehearse: 400 },
};

export function setup(
  change: {
    environment?: Partial<Environment>;
    task?: Partial<Task>;
    options?: Partial<RehearsalOptions>;
  } = {},
  policy = INFO,
): Setup {
  return {
    environment: { ...SHOP, ...change.environment },
    task: { ...TASK, ...change.task },
    options: { ...DEFAULT_OPTIONS, alternatives: 2, ...change.options },
    policy,
  };
}

export const call = (name: string, args: object) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
export const result = (value: unknown) => `<execution_result>${JSON.stringify(value)}</execution_result>`;

/** The order is looked up, then cancelled: reward 1. */
export const GOOD = {
  act: [
    call('get_order', { order_id: '#W1' }),
    call('cancel_order', { order_id: '#W1' }),
    'It is cancelled.',
  ],
  rehearse: [result({ order_id: '#W1', status: 'pending' }), result({ status: 'cancelled' })],
};
