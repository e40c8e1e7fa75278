/** Going another way: choosing an alternative, sampling again, and the list of branches that results. */
import type { Alternative } from '../policy';
import { rewardOf } from '../reward/rollout';
import type { Session, SessionNode } from './session';
import type { Token } from './types';

/**
 * Puts another token in the place of the one at `id`, and moves there. Where that branch exists already it is
 * shown again instead; the branch left behind is kept.
 */
export function chooseAlternative(session: Session, id: number, choice: Alternative): SessionNode {
  const node = session.node(id);
  if (node.reply?.kind !== 'token' || node.parent === null) throw new RangeError(`node ${id} is not a token`);
  const siblings = session.node(node.parent).children.map((child) => session.node(child));
  const known = siblings.find((other) => other.reply?.kind === 'token' && other.reply.token.id === choice.id);
  if (known) {
    session.move(known.id);
    return known;
  }
  return session.add({ kind: 'token', token: chosenToken(session, node.reply.token, choice) }, node.parent);
}

function chosenToken(session: Session, instead: Token, choice: Alternative): Token {
  const ends = session.setup.policy.endIds.includes(choice.id);
  const rank = instead.alternatives.findIndex((other) => other.id === choice.id);
  return {
    ...instead,
    id: choice.id,
    text: ends ? '' : choice.text,
    bytes: ends ? [] : (choice.bytes ?? []),
    logprob: choice.logprob,
    rank: rank < 0 ? null : rank + 1,
    origin: 'chosen',
    end: ends ? 'stop' : undefined,
  };
}

/** Samples the output at `id` again from its first token: a new attempt, so other draws. */
export function sampleAgain(session: Session, id: number): SessionNode {
  let node: SessionNode | null = session.node(id);
  while (node && node.reply?.kind !== 'prompt')
    node = node.parent === null ? null : session.node(node.parent);
  if (!node || node.reply?.kind !== 'prompt') throw new RangeError(`no output begins before node ${id}`);
  const attempt = 1 + session.nodes.reduce((most, other) => Math.max(most, other.state.attempt), 0);
  return session.add({ kind: 'prompt', ids: node.reply.ids, attempt }, node.parent!);
}

/** The whole task again, from its first token. Before anything was rendered there is nothing to repeat. */
export function restartTask(session: Session): void {
  const first = session.nodes[1];
  if (first) sampleAgain(session, first.id);
}

export interface Branch {
  /** Its last node. */
  tip: number;
  /** First node that is its own, or null for the first branch. */
  forkedAt: number | null;
  turn: number;
  /** What is different: the chosen token, or "attempt 2". */
  label: string;
  reward: number | null;
  done: boolean;
  tokens: number;
  /** The branch shown. */
  shown: boolean;
}

/** Every branch, oldest first. A branch owns its nodes back to the first one that an older branch owns. */
export function branches(session: Session): Branch[] {
  const owner = new Map<number, number>();
  const leaves = session.nodes.filter((node) => node.children.length === 0);
  return leaves.map((leaf, index) => {
    let own: SessionNode = leaf;
    while (own.parent !== null && !owner.has(own.parent)) {
      owner.set(own.id, leaf.id);
      own = session.node(own.parent);
    }
    owner.set(own.id, leaf.id);
    const first = index === 0 || own.parent === null;
    const done = leaf.state.position.kind === 'done';
    return {
      tip: leaf.id,
      forkedAt: first ? null : own.id,
      turn: first ? 1 : Math.max(1, own.state.turns.length),
      label: first ? 'main' : labelOf(own),
      reward: done ? rewardOf(leaf.state).value : null,
      done,
      tokens: session.path(leaf.id).filter((node) => node.reply?.kind === 'token').length,
      shown: leaf.id === session.tip.id,
    };
  });
}

function labelOf(node: SessionNode): string {
  const { reply } = node;
  if (reply?.kind === 'token') return reply.token.text || 'end of output';
  if (reply?.kind === 'prompt') return `attempt ${(reply.attempt ?? 0) + 1}`;
  return reply?.kind ?? 'main';
}
