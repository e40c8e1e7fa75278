/**
 * Which single choices turn the two stories of the examples right or wrong: `npx tsx server/nano/stories.ts URL
 * [--seed N] [--model NAME] [--all]`, where URL is a running engine. For every token of a first run, each of the first five
 * alternatives is chosen and the task continued; printed are the choices after which it succeeds
 * where the first run failed, or the other way round; `--all` prints every choice.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createRenderer } from '../../src/core/conversation/render';
import { loadEnvironment } from '../../src/core/environment/load';
import { drive, type Ports, toTheEnd } from '../../src/core/rehearsal/drivers';
import { chooseAlternative } from '../../src/core/rehearsal/forks';
import { Session } from '../../src/core/rehearsal/session';
import { rewardOf } from '../../src/core/reward/rollout';
import { connectPolicy } from '../../src/node/policies/connect';

const STORIES = [
  { environment: 'shop', task: 'order-without-hash' },
  { environment: 'flights', task: 'basic-economy' },
];

/** Choices less likely than this are left out, unless all are asked for. */
const LEAST = Math.log(1e-4);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '0' },
    model: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
});
const url = positionals[0];
if (!url) throw new Error('usage: stories.ts URL [--seed N] [--model NAME] [--all]');
const policy = await connectPolicy({ baseUrl: url, ...(values.model ? { model: values.model } : {}) });
const ports: Ports = { policy, render: createRenderer(policy) };

for (const story of STORIES) {
  const file = (name: string) =>
    readFileSync(new URL(`../../examples/${story.environment}/${name}`, import.meta.url), 'utf8');
  const path = `${story.environment}.rehearsal.json`;
  const { environment } = await loadEnvironment(file(path), { path, read: async (name) => file(name) });
  const task = environment?.tasks.find(({ id }) => id === story.task);
  if (!environment || !task) throw new Error(`${story.task} is not in ${path}`);
  const session = new Session({
    environment,
    task,
    policy: policy.info,
    options: {
      seed: Number(values.seed),
      temperature: 1,
      topP: 1,
      topK: -1,
      minP: 0,
      alternatives: 5,
      priority: 1,
      observations: 'rehearse',
    },
  });
  await drive(session, ports, toTheEnd);
  const first = rewardOf(session.state);
  console.log(`\n${story.task}, seed ${values.seed}: ${tell(session)} → reward ${first.value}`);
  const tokens = session.path().filter((node) => node.reply?.kind === 'token');
  let index = 0;
  for (const node of tokens) {
    index++;
    if (node.reply?.kind !== 'token') continue;
    const { token } = node.reply;
    for (const [rank, other] of token.alternatives.slice(0, 5).entries()) {
      if (other.id === token.id || (!values.all && other.logprob < LEAST)) continue;
      chooseAlternative(session, node.id, other);
      await drive(session, ports, toTheEnd);
      const { value, success } = rewardOf(session.state);
      if (success === first.success && !values.all) continue;
      const role = node.state.turns.at(-1)?.calls.some((call) => call.rehearsal) ? 'REHEARSE' : 'ACT';
      console.log(
        `  token ${index} (${role}, turn ${node.state.turns.length}) ${JSON.stringify(token.text)} → alternative ${rank + 1} ${JSON.stringify(other.text)} (p ${Math.exp(other.logprob).toExponential(1)}): reward ${value}; ${tell(session)}`,
      );
    }
  }
}

/** The calls, where their answers came from, and the final answer, in a line. */
function tell(session: Session): string {
  const { turns, position } = session.state;
  const parts = turns.flatMap((turn) => [
    ...turn.calls.map(
      (call) =>
        `${call.call?.name ?? '?'} ${call.call?.argumentsText ?? ''} ⇒ ${call.observation?.source} ${JSON.stringify(call.observation?.value).slice(0, 90)}`,
    ),
    ...(turn.parse?.content ? [turn.parse.content] : []),
  ]);
  return `${parts.join(' | ')} [${position.kind === 'done' ? position.stop : position.kind}]`;
}
