/** Going another way: choosing an alternative, sampling again, and the list of branches that results. */
import type { Alternative } from '../policy';
import { rewardOf } from '../reward/rollout';
import { currentOutput } from './machine';
import type { Session, SessionNode } from './session';
import type { Role, Token } from './types';

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

/** Samples the output at `id` again from its first token, in a new draw. */
export function sampleAgain(session: Session, id: number): SessionNode {
  let node: SessionNode | null = session.node(id);
  while (node && node.reply?.kind !== 'prompt')
    node = node.parent === null ? null : session.node(node.parent);
  if (node?.reply?.kind !== 'prompt') throw new RangeError(`no output begins before node ${id}`);
  const draw = 1 + session.nodes.reduce((most, other) => Math.max(most, other.state.draw), 0);
  return session.add({ kind: 'prompt', ids: node.reply.ids, draw }, node.parent!);
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
  /** Tip of the branch that it left, or null for the first branch. */
  from: number | null;
  turn: number;
  /** Whose output differs, or null for the first branch. */
  role: Role | null;
  /** 1-based place of the token that differs, or null where an output was begun again. */
  token: number | null;
  /** What is different: the chosen token, or "draw 2". */
  label: string;
  /** Text of the token in whose place it stands. */
  instead: string | null;
  reward: number | null;
  done: boolean;
  tokens: number;
  /** The branch shown. */
  shown: boolean;
  /** The last node that it shares with the branch shown, and the id of its next token; null for that branch. */
  leaves: { at: number; id: number | null } | null;
}

/** Every branch, oldest first. A node's first child goes on with its branch; each later one begins another. */
export function branches(session: Session): Branch[] {
  const shown = new Set(session.path(session.tip.id).map((node) => node.id));
  return session.nodes
    .filter((node) => node.children.length === 0)
    .map((leaf) => branchTo(session, leaf, shown))
    .sort((a, b) => (a.forkedAt ?? 0) - (b.forkedAt ?? 0));
}

function branchTo(session: Session, leaf: SessionNode, shown: ReadonlySet<number>): Branch {
  const path = session.path(leaf.id);
  const start = path.findLastIndex((node, i) => i > 0 && path[i - 1]!.children[0] !== node.id);
  const own = start < 0 ? null : path[start]!;
  const parent = own && path[start - 1]!;
  const left = parent && session.node(parent.children[0]!);
  const done = leaf.state.position.kind === 'done';
  const shares = path.findLastIndex((node) => shown.has(node.id));
  const isShown = leaf.id === session.tip.id;
  return {
    tip: leaf.id,
    forkedAt: own?.id ?? null,
    from: left && firstEnd(session, left).id,
    turn: own ? Math.max(1, own.state.turns.length) : 1,
    role: parent && roleOf(own!, parent),
    token: own?.reply?.kind === 'token' ? (currentOutput(parent!.state)?.tokens?.length ?? 0) + 1 : null,
    label: own ? labelOf(own) : 'main',
    instead: left && tokenOf(left) ? labelOf(left) : null,
    reward: done ? rewardOf(leaf.state).value : null,
    done,
    tokens: path.filter(tokenOf).length,
    shown: isShown,
    leaves: isShown ? null : { at: path[shares]!.id, id: tokenOf(path[shares + 1])?.id ?? null },
  };
}

function firstEnd(session: Session, from: SessionNode): SessionNode {
  let node = from;
  while (node.children.length > 0) node = session.node(node.children[0]!);
  return node;
}

/** Whose output begins or goes on with a node; null for what is no output. */
function roleOf({ reply }: SessionNode, { state: { position } }: SessionNode): Role | null {
  if (reply?.kind !== 'prompt' && reply?.kind !== 'token') return null;
  // Where the real tools were to answer, a prompt begins a rehearsal.
  return position.kind === 'prompt' || position.kind === 'tokens' ? position.role : 'rehearse';
}

function tokenOf(node: SessionNode | undefined): Token | undefined {
  return node?.reply?.kind === 'token' ? node.reply.token : undefined;
}

function labelOf(node: SessionNode): string {
  const { reply } = node;
  if (reply?.kind === 'token') return reply.token.text || 'end of output';
  switch (reply?.kind) {
    case 'prompt':
      return reply.draw === undefined ? 'rehearsed' : `draw ${reply.draw + 1}`;
    case 'executed':
      return 'real answer';
    case 'observation':
      return 'recorded answer';
    default:
      return reply?.kind ?? 'main';
  }
}
