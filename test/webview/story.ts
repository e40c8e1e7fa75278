/** Sessions for the panel's pictures and tests: the real core, driven by a policy in memory. */
import { DEFAULTS } from '../../src/core/environment/schema';
import type { Environment, Task, Tool } from '../../src/core/environment/types';
import type { JsonObject } from '../../src/core/json';
import { drive, oneToken, toTheEnd, type Until } from '../../src/core/rehearsal/drivers';
import { chooseAlternative } from '../../src/core/rehearsal/forks';
import { Session } from '../../src/core/rehearsal/session';
import { sessionView } from '../../src/core/rehearsal/view';
import type { Head } from '../../webview/common/messages';
import { INFO, type Rule, ScriptedPolicy } from './policy';

function tool(name: string, properties: JsonObject, readOnly = true): Tool {
  const parameters = { type: 'object', properties, required: Object.keys(properties) };
  return { name, description: name, parameters, readOnly };
}

const text = { type: 'string' };

const task: Task = {
  id: 'check and cancel order W4284542',
  instruction: 'Check order W4284542 and cancel it if it has not shipped.',
  user: [],
  checks: [
    {
      kind: 'calls',
      weight: 2,
      name: 'looks the order up, then cancels it',
      expected: [
        { tool: 'get_order_details', arguments: { order_id: '#W4284542' } },
        { tool: 'cancel_order', arguments: { order_id: '#W4284542' } },
      ],
    },
    {
      kind: 'forbidden',
      required: true,
      name: 'never sends the id without its #',
      calls: [{ tool: 'cancel_order', arguments: { order_id: 'W4284542' } }],
    },
    { kind: 'answer', contains: 'cancelled' },
    { kind: 'maxCalls', max: 4 },
  ],
};

export const environment: Environment = {
  name: 'retail-shop',
  policy: 'You help customers of a shop.',
  tools: [
    tool('find_customer_by_email', { email: text }),
    tool('get_order_details', { order_id: text }),
    tool(
      'cancel_order',
      { order_id: text, reason: { enum: ['no longer needed', 'ordered by mistake'] } },
      false,
    ),
  ],
  examples: [
    {
      tool: 'find_customer_by_email',
      arguments: { email: 'customer17@shop.test' },
      outcome: 'result',
      value: { name: 'Anna Lindqvist', orders: ['#W4284542', '#W8830274'], member_since: 2019 },
      afterWrite: false,
      part: 'train',
    },
  ],
  ignore: [],
  tasks: [task],
  ...DEFAULTS,
  maxTurns: 10,
  limits: { act: 400, rehearse: 400 },
};

const call = (name: string, args: string) =>
  `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
const answer = (json: string) => `<execution_result>${json}</execution_result>`;
const withHash = call('get_order_details', '{"order_id": "#W4284542"}');
const withoutHash = call('get_order_details', '{"order_id": "W4284542"}');

const RULES: Rule[] = [
  { when: /"W4284542"/, write: [answer('{"error": "Order not found"}')] },
  {
    when: /get_order_details/,
    write: [
      answer('{"order_id": "#W4284542", "status": "pending", "total": "$84.90"}'),
      answer('{"order_id": "#W4284542", "status": "delivered", "total": "$84.90"}'),
    ],
  },
  {
    when: /no longer needed/,
    write: [answer('{"order_id": "#W4284542", "status": "cancelled", "refund": "$84.90"}')],
  },
];

const ACT: Rule[] = [
  { when: /Order not found/, write: [withHash, withoutHash] },
  { when: /delivered/, write: ['Order #W4284542 has been delivered already, so it cannot be cancelled.'] },
  { when: /pending/, write: [call('cancel_order', '{"order_id": "#W4284542"}')] },
  {
    when: /required field/,
    write: [call('cancel_order', '{"order_id": "#W4284542", "reason": "no longer needed"}')],
  },
  {
    when: /"refund"/,
    write: [
      'Order #W4284542 had not shipped and is now cancelled. $84.90 goes back to the card that you paid with.',
    ],
  },
  { when: /Anna Lindqvist/, write: [withoutHash, withHash] },
  { when: /Check order/, write: [call('find_customer_by_email', '{"email": "customer17@shop.test"}')] },
];

export class Story {
  readonly session: Session;
  private readonly policy = new ScriptedPolicy();
  private readonly rules: { acts: Rule[]; rehearsals: Rule[] };

  constructor(
    acts: Rule[] = ACT,
    rehearsals: Rule[] = RULES,
    setup: Partial<Environment> = {},
    of: Partial<Task> = {},
  ) {
    const options = {
      seed: 1,
      alternatives: 5,
      priority: 0,
      observations: 'rehearse' as const,
      temperature: 1,
      topP: 1,
      topK: -1,
      minP: 0,
    };
    this.session = new Session({
      environment: { ...environment, ...setup },
      task: { ...task, ...of },
      options,
      policy: INFO,
    });
    this.rules = { acts, rehearsals };
  }

  async drive(until: Until): Promise<this> {
    const { policy, rules, session } = this;
    await drive(
      session,
      {
        policy,
        render: async (segment) => {
          const { position } = session.state;
          const role = position.kind === 'prompt' ? position.role : 'act';
          return policy.renderBy(role === 'act' ? rules.acts : rules.rehearsals, segment);
        },
      },
      until,
    );
    return this;
  }

  /** Steps this many tokens. */
  async tokens(count: number): Promise<this> {
    for (let i = 0; i < count; i++) await this.drive(oneToken);
    return this;
  }

  end(): Promise<this> {
    return this.drive(toTheEnd);
  }

  /** Node of the token of this text in an output of a turn. */
  find(turn: number, text: string, call: number | null = null): number {
    const view = sessionView(this.session).turns[turn - 1]!;
    const output = call === null ? view.act : view.calls[call]!.rehearsal!;
    const token = output.tokens.find((other) => other.text === text);
    if (!token) throw new Error(`turn ${turn} has no token ${text}`);
    return token.node;
  }

  choose(node: number, text: string): this {
    const { reply } = this.session.node(node);
    const choice = reply?.kind === 'token' && reply.token.alternatives.find((other) => other.text === text);
    if (!choice) throw new Error(`no alternative ${text} at node ${node}`);
    chooseAlternative(this.session, node, choice);
    return this;
  }

  goto(node: number): this {
    this.session.move(node);
    return this;
  }

  view() {
    return sessionView(this.session);
  }

  head(change: Partial<Head> = {}): Head {
    const { session } = this;
    const ended = session.state.position.kind === 'done';
    return {
      status: ended ? 'ended' : 'stopped',
      reason: ended ? 'Ended: answered' : 'Stopped',
      tokens: session.nodes.filter(({ reply }) => reply?.kind === 'token').length,
      contextUsed: 298,
      seconds: 2.64,
      cursor: session.cursor.id,
      canStepBack: session.cursor.id > 0,
      ...change,
    };
  }
}

/** The mock's scene: stopped at the # of turn 3, the rest stored ahead, two other branches. */
export async function scene(): Promise<Story> {
  const story = await new Story().end();
  const main = story.session.tip.id;
  const hash = story.find(3, '#');
  await story.choose(hash, 'W').end();
  story.goto(main);
  const status = story.find(3, 'pending', 0);
  await story.choose(status, 'delivered').end();
  story.goto(main);
  return story.goto(hash);
}
