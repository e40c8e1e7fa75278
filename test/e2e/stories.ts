/**
 * Looks for the choices that a person would make: one alternative at one token, and then Continue alone. The
 * stories of the examples hold when a right and a wrong rehearsal can both be reached that way.
 */
import { createRenderer } from '../../src/core/conversation/render';
import type { Policy } from '../../src/core/policy';
import { drive, toTheEnd } from '../../src/core/rehearsal/drivers';
import { chooseAlternative } from '../../src/core/rehearsal/forks';
import { DEFAULT_OPTIONS } from '../../src/core/rehearsal/options';
import { Session, type SessionNode } from '../../src/core/rehearsal/session';
import { rewardOf } from '../../src/core/reward/rollout';
import { usableEnvironment } from '../../src/node/environments';

export interface Choice {
  /** 1-based turn of the ACT output. */
  turn: number;
  /** 0-based place of the token in that output. */
  place: number;
  /** The alternative, by its id and its text. */
  id: number;
  text: string;
}

export interface Story {
  /** Whether the rehearsal without any choice ends in success. */
  straight: boolean;
  right: Choice | null;
  wrong: Choice | null;
}

/** Alternatives less likely than this lead to nonsense, which shows nobody anything. */
const LEAST_PROBABILITY = 0.0005;
const MOST_TRIES = 120;

/** Tries the alternatives of each ACT token of the rehearsal that Start and Continue give, the first tokens first. */
export async function findStory(policy: Policy, file: string, taskId: string): Promise<Story> {
  const environment = await usableEnvironment(file);
  const task = environment.tasks.find(({ id }) => id === taskId)!;
  const session = new Session({ environment, task, policy: policy.info, options: DEFAULT_OPTIONS });
  const ports = { policy, render: createRenderer(policy) };
  await drive(session, ports, toTheEnd);
  const succeeds = () => rewardOf(session.state).success;
  const story: Story = { straight: succeeds(), right: null, wrong: null };
  let tries = 0;
  for (const node of session.path(session.tip.id)) {
    for (const choice of choicesAt(session, node)) {
      if (tries++ >= MOST_TRIES) return story;
      chooseAlternative(session, node.id, choice.alternative);
      await drive(session, ports, toTheEnd);
      const kind = succeeds() ? 'right' : 'wrong';
      story[kind] ??= choice.choice;
      if (story.right && story.wrong) return story;
    }
  }
  return story;
}

function choicesAt(session: Session, { reply, parent }: SessionNode) {
  if (reply?.kind !== 'token' || parent === null) return [];
  const { position, turns } = session.node(parent).state;
  if (position.kind !== 'tokens' || position.role !== 'act') return [];
  const turn = turns.at(-1)!;
  const place = turn.act.tokens?.length ?? 0;
  return reply.token.alternatives
    .slice(0, 5)
    .filter(({ id, logprob }) => id !== reply.token.id && Math.exp(logprob) >= LEAST_PROBABILITY)
    .map((alternative) => ({
      alternative,
      choice: { turn: turn.index, place, id: alternative.id, text: alternative.text },
    }));
}
