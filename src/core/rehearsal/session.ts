/**
 * A session: a tree of replies, a cursor in it, and the tip of the branch that is shown. Nothing is ever
 * removed. The state at a node is the fold of `accept` from the root, so a session is saved by writing its
 * replies down, one record each, and read back by accepting them again.
 */
import { accept, start } from './machine';
import type { Reply, Setup, State } from './types';

export interface SessionNode {
  id: number;
  /** Null for the root, whose state is the start. */
  parent: number | null;
  /** Null for the root. */
  reply: Reply | null;
  state: State;
  children: number[];
}

/** One line of a session file. Format: `docs/session-format.md`. */
export type SessionRecord =
  | {
      t: 'session';
      version: 1;
      id: string;
      created: string;
      setup: Setup;
      /** Path of the environment file from the folder that holds `.rehearsal`, for links into it. */
      environmentFile?: string;
    }
  | { t: 'reply'; id: number; parent: number; reply: Reply }
  /** The person moved: `at` is the cursor, `tip` the end of the branch shown. */
  | { t: 'at'; at: number; tip: number };

export type Sink = (record: SessionRecord) => void;

export class Session {
  readonly nodes: SessionNode[] = [];
  private at = 0;
  private end = 0;

  constructor(
    readonly setup: Setup,
    private readonly sink: Sink = () => {},
  ) {
    this.nodes.push({ id: 0, parent: null, reply: null, state: start(setup), children: [] });
  }

  get cursor(): SessionNode {
    return this.nodes[this.at]!;
  }

  get tip(): SessionNode {
    return this.nodes[this.end]!;
  }

  get state(): State {
    return this.cursor.state;
  }

  node(id: number): SessionNode {
    const node = this.nodes[id];
    if (!node) throw new RangeError(`no node ${id} in this session`);
    return node;
  }

  /** Appends a reply behind `parent` (the cursor by default) and moves there. */
  add(reply: Reply, parent = this.at): SessionNode {
    const { at, end } = this;
    const node = this.link(this.nodes.length, parent, reply);
    this.at = this.end = node.id;
    try {
      this.sink({ t: 'reply', id: node.id, parent, reply });
    } catch (error) {
      // What is not kept did not happen: nothing that follows may build on it.
      this.nodes.pop();
      this.node(parent).children.pop();
      Object.assign(this, { at, end });
      throw error;
    }
    return node;
  }

  /** Moves the cursor on the branch shown; elsewhere, that branch is shown up to its last node. */
  move(id: number): void {
    const node = this.node(id);
    const tip = this.isOnPath(node.id, this.end) ? this.end : this.lastOf(node).id;
    const { at, end } = this;
    if (id === at && tip === end) return;
    this.at = id;
    this.end = tip;
    try {
      this.sink({ t: 'at', at: this.at, tip });
    } catch (error) {
      Object.assign(this, { at, end });
      throw error;
    }
  }

  /** The stored reply that comes next on the branch shown, or null at its end. */
  next(): SessionNode | null {
    if (this.at === this.end) return null;
    for (let node = this.tip; node.parent !== null; node = this.node(node.parent)) {
      if (node.parent === this.at) return node;
    }
    return null;
  }

  /** Nodes from the root to `id`, both included. */
  path(id = this.at): SessionNode[] {
    const path: SessionNode[] = [];
    for (
      let node: SessionNode | null = this.node(id);
      node;
      node = node.parent === null ? null : this.node(node.parent)
    ) {
      path.push(node);
    }
    return path.reverse();
  }

  /** Applies a record that was read back. Throws where it does not fit, and leaves the session as it was. */
  replay(record: SessionRecord): void {
    if (record.t === 'reply') {
      if (record.id !== this.nodes.length) throw new RangeError(`reply ${record.id} is out of order`);
      this.link(record.id, record.parent, record.reply);
      this.at = this.end = record.id;
    } else if (record.t === 'at') {
      this.node(record.at);
      if (!this.isOnPath(record.at, record.tip))
        throw new RangeError(`node ${record.at} is not before ${record.tip}`);
      this.at = record.at;
      this.end = record.tip;
    }
  }

  private link(id: number, parent: number, reply: Reply): SessionNode {
    const before = this.node(parent);
    const node: SessionNode = { id, parent, reply, state: accept(before.state, reply), children: [] };
    this.nodes.push(node);
    before.children.push(id);
    return node;
  }

  private isOnPath(id: number, tip: number): boolean {
    // Ids grow along a path, so the walk may stop as soon as it is past `id`.
    let node = this.node(tip);
    while (node.id > id && node.parent !== null) node = this.node(node.parent);
    return node.id === id;
  }

  /** The end of the newest branch through a node. */
  private lastOf(from: SessionNode): SessionNode {
    let node = from;
    while (node.children.length > 0) node = this.node(node.children[node.children.length - 1]!);
    return node;
  }
}
