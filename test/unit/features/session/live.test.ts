import assert from 'node:assert/strict';
import { NO_FILTERS } from '../../../../src/core/rehearsal/breakpoints';
import { watchOf } from '../../../../src/features/debug/filters';
import type { LiveSession } from '../../../../src/features/session/live';
import type { Stop } from '../../../../src/features/session/stops';
import { FIRST_CALL, FIRST_RESULT, Scripted, textAt } from './scripted';

function stopsOf(live: LiveSession): Stop[] {
  const stops: Stop[] = [];
  live.on('stop', (stop) => stops.push(stop));
  return stops;
}

function tokenNode(live: LiveSession, text: string): number {
  const path = live.session.path(live.session.tip.id);
  return path.find(({ reply }) => reply?.kind === 'token' && reply.token.text === text)!.id;
}

describe('live session', () => {
  it('steps one token, one output, one turn, and to the end', async () => {
    const live = new Scripted().live();
    await live.step('token');
    assert.equal(textAt(live), '<tool_call>');
    await live.step('output');
    assert.equal(textAt(live), FIRST_CALL);
    await live.step('output');
    assert.equal(textAt(live), FIRST_CALL + FIRST_RESULT);
    await live.step('turn');
    assert.equal(live.session.state.turns.length, 2);
    assert.equal(live.session.state.turns[1]!.calls[0]!.observation?.source, 'rehearsed');
    await live.step('continue');
    assert.equal(live.status, 'ended');
    assert.match(live.lastStop.text, /^Ended: answered, reward 1\.00$/);
  });

  it('counts a gate as one step of its own, whatever the gesture', async () => {
    const live = new Scripted().live();
    for (let i = 0; i < 2; i++) await live.step('turn');
    await live.step('output');
    const given = live.tokens;
    await live.step('token');
    assert.equal(live.session.state.turns[2]!.calls[0]!.observation?.source, 'gate');
    assert.equal(live.tokens, given, 'a gate costs no token');
    assert.match(live.lastStop.text, /turn 3, observation/);
  });

  it('ends, and says why, where a prompt does not fit into the context any more', async () => {
    for (const gesture of ['token', 'continue'] as const) {
      const script = new Scripted();
      Object.assign(script.setup, { policy: { ...script.setup.policy, contextLength: 10 } });
      const live = script.live();
      const stops = stopsOf(live);
      await live.step(gesture);
      assert.equal(live.status, 'ended', gesture);
      assert.equal(script.given, 0);
      assert.match(live.lastStop.text, /^Ended: context limit, reward 0\.00$/);
      assert.deepEqual(
        stops.map(({ kind }) => kind),
        ['end'],
      );
    }
  });

  it('pauses between two tokens, and makes the server stop', async () => {
    const script = new Scripted();
    const live = script.live();
    const running = live.step('continue');
    while (script.given < 5) await new Promise((ok) => setImmediate(ok));
    assert.equal(live.status, 'running');
    await live.pause();
    await running;
    const { given } = script;
    assert.equal(live.lastStop.kind, 'pause');
    assert.equal(script.cancelled, 1, 'the stream was cancelled');
    assert.equal(live.tokens, given, 'every token that came is kept');
    await new Promise((ok) => setTimeout(ok, 20));
    assert.equal(script.given, given, 'none is given after it');
    await live.step('output');
    assert.equal(textAt(live), FIRST_CALL, 'and it goes on where it stood');
  });

  it('undoes the last step, and replays what is stored instead of sampling it again', async () => {
    const script = new Scripted();
    const live = script.live();
    await live.step('token');
    await live.step('continue');
    const { given } = script;
    const whole = textAt(live);
    await live.back();
    assert.equal(textAt(live), '<tool_call>');
    await live.back();
    assert.equal(live.canStepBack, false);
    assert.equal(live.status, 'stopped');
    await live.step('continue');
    assert.equal(textAt(live), whole);
    assert.equal(script.given, given, 'nothing was sampled');
  });

  it('forks at a chosen alternative, keeps the branch left behind, and goes back to it', async () => {
    const script = new Scripted();
    const live = script.live();
    await live.step('continue');
    const main = live.session.tip.id;
    const token = live.session
      .path()
      .find(
        ({ reply }) =>
          reply?.kind === 'token' && reply.token.alternatives.some(({ text }) => text.includes('#')),
      )!;
    const hash =
      token.reply?.kind === 'token'
        ? token.reply.token.alternatives.find(({ text }) => text.includes('#'))!
        : null!;
    await live.choose(token.id, hash.id);
    assert.notEqual(live.session.tip.id, main);
    await live.step('continue');
    assert.match(live.session.state.turns[0]!.calls[0]!.call!.argumentsText, /"#W42"/);
    await live.goto(main);
    assert.equal(live.status, 'ended');
    assert.match(live.session.state.turns[0]!.calls[0]!.call!.argumentsText, /"W42"/);
  });

  it('undoes a fork: the earlier branch is shown again', async () => {
    const live = new Scripted().live();
    await live.step('continue');
    const main = live.session.tip.id;
    const node = tokenNode(live, '4');
    const { reply } = live.session.node(node);
    const other =
      reply?.kind === 'token' ? reply.token.alternatives.find(({ id }) => id !== reply.token.id)! : null!;
    await live.choose(node, other.id);
    await live.back();
    assert.equal(live.session.tip.id, main);
    assert.equal(live.session.cursor.id, main);
  });

  it('samples an output again and keeps the first', async () => {
    const script = new Scripted();
    const live = script.live();
    await live.step('output');
    const first = live.session.tip.id;
    const before = script.given;
    await live.again(first);
    assert.ok(script.given > before, 'it was sampled');
    assert.equal(textAt(live), FIRST_CALL);
    assert.notEqual(live.session.tip.id, first);
    assert.equal(live.session.state.turns[0]!.act.draw, 1);
    await live.back();
    assert.equal(live.session.tip.id, first);
  });

  it('restarts the task on a branch of its own', async () => {
    const live = new Scripted().live();
    await live.step('continue');
    const main = live.session.tip.id;
    await live.restart();
    assert.equal(live.status, 'stopped');
    assert.equal(textAt(live), '');
    assert.ok(live.session.node(main));
    await live.step('token');
    assert.equal(textAt(live), '<tool_call>');
  });

  it('survives a server that is missing, and one that dies in mid-stream', async () => {
    const script = new Scripted();
    const live = script.live();
    script.faults.missing = true;
    await live.step('token');
    assert.equal(live.status, 'failed');
    assert.match(live.failure!.message, /No server answers/);
    assert.ok(live.failure!.next);
    script.faults.missing = false;
    script.faults.dieAfter = 3;
    await live.step('output');
    assert.equal(live.status, 'failed');
    assert.equal(live.tokens, 3, 'what came is kept');
    assert.equal(script.connects, 2);
    delete script.faults.dieAfter;
    await live.step('output');
    assert.equal(live.status, 'stopped');
    assert.equal(live.failure, null);
    assert.equal(textAt(live), FIRST_CALL);
    assert.equal(script.connects, 3, 'it connects anew after a failure');
  });

  it('can be paused while a server hangs', async () => {
    const script = new Scripted();
    const live = script.live();
    script.faults.hangAfter = 2;
    const running = live.step('continue');
    while (script.given < 2) await new Promise((ok) => setImmediate(ok));
    await live.pause();
    await running;
    assert.equal(live.status, 'stopped');
    assert.equal(live.tokens, 2);
  });

  it('needs no server for what is stored', async () => {
    const script = new Scripted();
    const live = script.live();
    await live.step('output');
    await live.back();
    script.faults.missing = true;
    await live.step('output');
    assert.equal(live.status, 'stopped');
    assert.equal(textAt(live), FIRST_CALL);
  });

  it('stops at tools and filters when it continues and when it goes back', async () => {
    const live = new Scripted().live();
    const stops = stopsOf(live);
    const filters = { ...NO_FILTERS, failedGate: true, rehearsedError: true };
    live.watch = watchOf({ tools: new Set(['cancel_order']), filters, outputs: new Set() });
    await live.step('continue');
    assert.equal(stops.at(-1)!.exception?.filter, 'rehearsedError');
    await live.step('continue');
    assert.equal(stops.at(-1)!.kind, 'function breakpoint');
    assert.equal(live.session.state.turns.length, 3);
    assert.equal(live.session.state.turns[2]!.calls[0]!.observation, null, 'before its observation');
    await live.step('continue');
    assert.equal(stops.at(-1)!.exception?.filter, 'failedGate');
    await live.step('continue');
    assert.equal(stops.at(-1)!.kind, 'function breakpoint');
    await live.reverseContinue();
    assert.equal(stops.at(-1)!.exception?.filter, 'failedGate');
    await live.reverseContinue();
    await live.reverseContinue();
    assert.equal(stops.at(-1)!.exception?.filter, 'rehearsedError');
    await live.reverseContinue();
    assert.equal(live.session.cursor.id, 0);
  });

  it('stops at improbable tokens, at the outputs marked, and in the middle of a step', async () => {
    const live = new Scripted().live();
    const filters = { ...NO_FILTERS, belowProbability: 0.95 };
    live.watch = watchOf({ tools: new Set(), filters, outputs: new Set() });
    await live.step('turn');
    assert.equal(live.lastStop.exception?.filter, 'belowProbability');
    assert.equal(textAt(live), '<tool_call>');
    live.watch = watchOf({ tools: new Set(), filters: NO_FILTERS, outputs: new Set(['2/0']) });
    await live.step('continue');
    assert.equal(live.lastStop.kind, 'breakpoint');
    const { position, turns } = live.session.state;
    assert.deepEqual([position.kind, turns.length], ['prompt', 2]);
    assert.notEqual(turns[1]!.act.end, null, 'ACT is complete, its rehearsal not begun');
  });
});
