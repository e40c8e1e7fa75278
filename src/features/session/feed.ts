/**
 * What the panel is sent: changes of a live session, gathered so that a fast stream costs at most about 30
 * messages a second. At a stop everything is sent at once, before anybody hears of the stop.
 */

import type { Head, ToSession } from '../../../webview/common/messages';
import { branches } from '../../core/rehearsal/forks';
import { currentOutput, currentTurnIndex } from '../../core/rehearsal/machine';
import type { SessionRecord } from '../../core/rehearsal/session';
import type { State } from '../../core/rehearsal/types';
import { endView, lastTurnView, sessionView, tokenView } from '../../core/rehearsal/view';
import type { TokenView } from '../../core/rehearsal/view.types';
import { noticeOf } from '../../core/user-error';
import type { LiveSession } from './live';
import { otherView } from './other-view';

const INTERVAL_MS = 33;

/** What has changed since the last message. */
type Pending =
  | { kind: 'head' }
  | { kind: 'tokens'; turn: number; call: number | null; tokens: TokenView[] }
  | { kind: 'turn'; turn: number }
  | { kind: 'session' };

export class SessionFeed {
  private pending: Pending | null = null;
  private timer: NodeJS.Timeout | undefined;
  private tip: number;

  constructor(
    private readonly live: LiveSession,
    private readonly send: (message: ToSession) => void,
  ) {
    this.tip = live.session.tip.id;
    live.on('record', this.record);
    live.on('run', this.soon);
    live.on('notice', this.soon);
    live.on('stop', this.flush);
    live.on('observations', this.tellTools);
    live.beside.on('change', this.tellOther);
  }

  /** Everything: what a panel needs first. */
  start(): void {
    this.pending = { kind: 'session' };
    this.flush();
    this.tellTools();
    for (const { node } of this.live.beside.all) this.tellOther(node);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.live.off('record', this.record);
    this.live.off('run', this.soon);
    this.live.off('notice', this.soon);
    this.live.off('stop', this.flush);
    this.live.off('observations', this.tellTools);
    this.live.beside.off('change', this.tellOther);
  }

  private readonly tellTools = (): void => {
    const { observations } = this.live;
    void this.live.beside.unavailable().then((unavailable) => {
      this.send({ type: 'tools', observations, unavailable });
    });
  };

  private readonly tellOther = (node: number): void => {
    const other = this.live.beside.get(node);
    this.send({ type: 'other', node, other: other ? otherView(other) : null });
  };

  private readonly record = (record: SessionRecord): void => {
    this.pending = join(this.pending, this.changeOf(record));
    this.tip = this.live.session.tip.id;
    this.soon();
  };

  private changeOf(record: SessionRecord): Pending {
    const { session } = this.live;
    if (record.t === 'session') return { kind: 'session' };
    if (record.t === 'at') return { kind: record.tip === this.tip ? 'head' : 'session' };
    if (record.parent !== this.tip) return { kind: 'session' };
    const node = session.node(record.id);
    const before = session.node(record.parent).state;
    const output = currentOutput(node.state);
    if (record.reply.kind !== 'token' || !output) return { kind: 'turn', turn: currentTurnIndex(before) };
    const tokens = [tokenView(node.id, record.reply.token)];
    return { kind: 'tokens', turn: output.turn, call: output.call, tokens };
  }

  private readonly soon = (): void => {
    this.pending ??= { kind: 'head' };
    this.timer ??= setTimeout(this.flush, INTERVAL_MS);
  };

  private readonly flush = (): void => {
    clearTimeout(this.timer);
    this.timer = undefined;
    const pending = this.pending ?? { kind: 'head' };
    this.pending = null;
    this.send(this.messageOf(pending));
  };

  private messageOf(pending: Pending): ToSession {
    const { session } = this.live;
    const head = headOf(this.live);
    switch (pending.kind) {
      case 'head':
        return { type: 'head', head };
      case 'tokens':
        return { type: 'tokens', turn: pending.turn, call: pending.call, tokens: pending.tokens, head };
      case 'turn': {
        const turn = lastTurnView(session);
        if (turn?.index !== pending.turn) return { type: 'session', view: sessionView(session), head };
        const { id: tip, state } = session.tip;
        return { type: 'turn', turn, branches: branches(session), end: endView(state), tip, head };
      }
      case 'session':
        return { type: 'session', view: sessionView(session), head };
    }
  }
}

/** One change that says no less than both. */
function join(a: Pending | null, b: Pending): Pending {
  if (!a || a.kind === 'head') return b;
  if (b.kind === 'head') return a;
  if (a.kind === 'session' || b.kind === 'session') return { kind: 'session' };
  if (a.turn !== b.turn) return { kind: 'session' };
  if (a.kind === 'tokens' && b.kind === 'tokens' && a.call === b.call) {
    return { ...a, tokens: [...a.tokens, ...b.tokens] };
  }
  return { kind: 'turn', turn: a.turn };
}

/** What the head of the panel shows. */
export function headOf(live: LiveSession): Head {
  const { failure, session, status } = live;
  const error = failure && noticeOf(failure);
  return {
    status,
    reason: status === 'running' ? live.notice || 'Running' : live.lastStop.text,
    ...(error && { error }),
    tokens: live.tokens,
    contextUsed: contextUsed(session.state),
    seconds: live.seconds,
    cursor: session.cursor.id,
    canStepBack: live.canStepBack,
  };
}

/** Tokens of the prompt and output that are being written, or were last. */
function contextUsed(state: State): number {
  const output = currentOutput(state);
  if (output) return output.prompt.length + (output.tokens?.length ?? 0);
  const turn = state.turns[state.turns.length - 1];
  const rehearsed = turn?.calls.some((step) => step.rehearsal);
  return (rehearsed ? state.prompts.rehearse : state.prompts.act)?.length ?? 0;
}
