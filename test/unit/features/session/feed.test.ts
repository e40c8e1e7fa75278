import assert from 'node:assert/strict';
import { sessionView } from '../../../../src/core/rehearsal/view';
import type { SessionView } from '../../../../src/core/rehearsal/view.types';
import { SessionFeed } from '../../../../src/features/session/feed';
import type { LiveSession } from '../../../../src/features/session/live';
import type { Head, ToSession } from '../../../../webview/common/messages';
import { isToSession } from '../../../../webview/common/validators.generated';
import { Scripted } from './scripted';

/** What a panel holds that applies every message as the protocol says. */
class Panel {
  view: SessionView | undefined;
  head: Head | undefined;
  messages: ToSession[] = [];
  private readonly feed: SessionFeed;

  constructor(live: LiveSession) {
    this.feed = new SessionFeed(live, (message) => this.receive(structuredClone(message)));
    this.feed.start();
  }

  close(): void {
    this.feed.dispose();
  }

  private receive(message: ToSession): void {
    assert.ok(isToSession(message), 'the panel would ignore it');
    this.messages.push(message);
    if (!('head' in message)) return;
    this.head = message.head;
    if (message.type === 'session') this.view = message.view;
    const view = this.view!;
    if (message.type === 'tokens') {
      const turn = view.turns.find(({ index }) => index === message.turn)!;
      const output = message.call === null ? turn.act : turn.calls[message.call]!.rehearsal!;
      output.tokens.push(...message.tokens);
      view.tip = message.tokens.at(-1)!.node;
    }
    if (message.type === 'turn') {
      const at = view.turns.findIndex(({ index }) => index === message.turn.index);
      if (at < 0) view.turns.push(message.turn);
      else view.turns[at] = message.turn;
      view.branches = message.branches;
      view.end = message.end;
      view.tip = message.tip;
    }
  }
}

/** Branches are brought up to date at the end of an output only, and the cursor stands in the head. */
function shown({ turns, end, tip }: SessionView) {
  return { turns, end, tip };
}

describe('what the panel is sent', () => {
  it('adds up to the session, whatever a person does', async () => {
    const live = new Scripted().live();
    const panel = new Panel(live);
    const same = (what: string) => {
      assert.deepEqual(shown(panel.view!), shown(sessionView(live.session)), what);
      assert.equal(panel.head!.cursor, live.session.cursor.id, what);
    };
    for (const gesture of ['token', 'token', 'output', 'token', 'turn', 'output', 'continue'] as const) {
      await live.step(gesture);
      same(gesture);
    }
    await live.back();
    same('back');
    const fork = live.session.path(live.session.tip.id).find(({ reply }) => {
      return reply?.kind === 'token' && reply.token.alternatives.length > 2;
    })!;
    const alternative = fork.reply?.kind === 'token' ? fork.reply.token.alternatives[1]!.id : -1;
    await live.choose(fork.id, alternative);
    same('choose');
    await live.step('output');
    same('output of a fork');
    await live.again(live.session.cursor.id);
    same('again');
    await live.restart();
    same('restart');
    await live.step('continue');
    same('continue');
    panel.close();
  });

  it('gathers the tokens of a fast stream', async () => {
    const long = `${'word '.repeat(1500)}`;
    const live = new Scripted(() => [long], { limits: { act: 2000, rehearse: 400 } }).live();
    const panel = new Panel(live);
    await live.step('continue');
    assert.ok(live.tokens > 1000);
    assert.ok(panel.messages.length < live.tokens / 4, `${panel.messages.length} messages`);
    assert.deepEqual(shown(panel.view!), shown(sessionView(live.session)));
    panel.close();
  });

  it('says what went wrong and what to do', async () => {
    const script = new Scripted();
    const live = script.live();
    const panel = new Panel(live);
    script.faults.missing = true;
    await live.step('token');
    assert.equal(panel.head!.status, 'failed');
    assert.match(panel.head!.error!.message, /No server answers.*Start it/);
    panel.close();
  });
});
