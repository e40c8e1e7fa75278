/** Real tools beside a session: a real module runs; only the person's answer is given by the test. */
import assert from 'node:assert/strict';
import { sessionView } from '../../../../src/core/rehearsal/view';
import type { LiveSession } from '../../../../src/features/session/live';
import { children } from '../../node/tools/support';
import { Scripted } from './scripted';

/** Node of the observation of a turn's first call. */
const nodeOf = (live: LiveSession, turn: number) =>
  sessionView(live.session).turns[turn - 1]!.calls[0]!.observation!.node;
const sources = (live: LiveSession) =>
  sessionView(live.session).turns.flatMap(({ calls }) => calls.map(({ observation }) => observation?.source));

describe('real answers beside a session', () => {
  let script: Scripted;
  let live: LiveSession;

  beforeEach(async () => {
    script = new Scripted();
    live = script.live();
    await live.step('continue');
  });
  afterEach(async () => {
    await live.close();
    assert.deepEqual(children(), []);
  });

  it('are executed where the call stands, and leave the session as it is', async () => {
    const { length } = live.session.nodes;
    // Turn 4 cancels the order; turn 2 looks at it before that.
    const turns = sessionView(live.session).turns.map(({ calls }) => calls[0]?.text.split('(')[0]);
    const [look, cancel] = [2, turns.lastIndexOf('cancel_order') + 1];
    await live.beside.execute(nodeOf(live, cancel));
    assert.deepEqual(live.beside.get(nodeOf(live, cancel))!.answer!.value, {
      status: 'cancelled',
      refund: 12,
    });
    await live.beside.execute(nodeOf(live, look));
    assert.deepEqual(live.beside.get(nodeOf(live, look))!.answer!.value, { status: 'pending', total: 12 });
    assert.equal(live.session.nodes.length, length);
    assert.equal(script.asked[0]!.tool, 'cancel_order');
  });

  it('are compared field by field', async () => {
    await live.beside.compare(nodeOf(live, 2));
    const { comparison } = live.beside.get(nodeOf(live, 2))!;
    assert.equal(comparison!.verdict, 'differs');
    assert.deepEqual(
      comparison!.fields.map(({ path, kind }) => [path, kind]),
      [
        ['$.status', 'match'],
        ['$.total', 'missing'],
      ],
    );
  });

  it('are nothing where the person does not allow it', async () => {
    script.allows = false;
    await live.beside.execute(nodeOf(live, 2));
    assert.equal(live.beside.get(nodeOf(live, 2)), undefined);
  });

  it('say at the call what went wrong', async () => {
    script.executor = { kind: 'module', path: 'missing.mjs' };
    await live.beside.execute(nodeOf(live, 2));
    const other = live.beside.get(nodeOf(live, 2))!;
    assert.equal(other.status, 'failed');
    assert.match(other.failure!, /missing\.mjs/);
  });

  it('say why they cannot be scored', async () => {
    const told = new Promise<string>((ok) =>
      live.beside.on('change', (node) => {
        const { unscored } = live.beside.get(node)!;
        if (unscored !== null) ok(unscored);
      }),
    );
    await live.beside.execute(nodeOf(live, 2));
    assert.equal(script.connects, 1, 'executing needs no more of the server');
    await live.beside.score(nodeOf(live, 2));
    assert.match(await told, /no probabilities/);
  });

  it('can be taken: a branch that goes on from there, and is the same one when taken again', async () => {
    const node = nodeOf(live, 2);
    await live.beside.execute(node);
    await live.take(node);
    assert.deepEqual(sources(live), ['rehearsed', 'real']);
    const { id } = live.session.cursor;
    await live.goto(node);
    await live.take(node);
    assert.equal(live.session.cursor.id, id);
    await live.step('continue');
    assert.equal(live.status, 'ended');
    await live.back();
    await live.back();
    assert.equal(live.session.cursor.id, node, 'Step Back undoes it');
  });

  it('are stepped for real: each call executed once it comes, behind what this branch has changed', async () => {
    const started = new Scripted();
    const real = started.live();
    real.observations = 'real';
    await real.step('continue');
    assert.equal(real.status, 'ended');
    assert.deepEqual([...new Set(sources(real))].sort(), ['gate', 'real']);
    const made = started.asked.length;
    await real.back();
    await real.step('continue');
    assert.equal(started.asked.length, made, 'what is stored is not executed again');
    await real.close();
  });

  it('stop the step where the person does not allow a call, which can be tried again', async () => {
    const started = new Scripted();
    const real = started.live();
    started.allows = false;
    real.observations = 'real';
    await real.step('continue');
    assert.equal(real.status, 'failed');
    assert.match(real.failure!.message, /did not allow/);
    started.allows = true;
    await real.step('continue');
    assert.equal(real.status, 'ended');
    await real.close();
  });

  it('run the same task beside the branch that was rehearsed', async () => {
    const tips = await live.runForReal();
    assert.ok(tips && tips.rehearsed !== tips.real);
    assert.equal(live.status, 'ended');
    assert.ok(sources(live).includes('real') && !sources(live).includes('rehearsed'));
    // Both begin with the same call, word for word.
    const first = (id: number) => live.session.node(id).state.turns[0]!.act;
    assert.equal(first(tips.rehearsed), first(tips.real));
  });

  it('are rehearsed beside a real answer, to compare the other way round', async () => {
    await live.runForReal();
    const turns = sessionView(live.session).turns;
    const node = turns.find(({ calls }) => calls[0]?.observation?.source === 'real')!.calls[0]!.observation!
      .node;
    await live.beside.compare(node);
    const other = live.beside.get(node)!;
    assert.deepEqual([other.source, other.status], ['rehearsed', 'done']);
    assert.ok(other.comparison);
  });
});
