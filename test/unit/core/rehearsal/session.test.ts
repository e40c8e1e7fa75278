import assert from 'node:assert/strict';
import { oneOutput, oneToken, toTheEnd } from '../../../../src/core/rehearsal/drivers';
import { branches, chooseAlternative, restartTask, sampleAgain } from '../../../../src/core/rehearsal/forks';
import { outputText } from '../../../../src/core/rehearsal/outputs';
import { Session } from '../../../../src/core/rehearsal/session';
import { sessionView } from '../../../../src/core/rehearsal/view';
import { END } from '../../support/memory-policy';
import { begin, stopOf } from '../../support/rehearse';
import { GOOD } from '../../support/shop';

const isToken = (kind: string | undefined) => kind === 'token';

describe('a session', () => {
  it('steps back and forward to the very same states', async () => {
    const { session, drive } = begin(GOOD);
    await drive(toTheEnd);
    const path = session.path();
    for (const node of [...path].reverse()) {
      session.move(node.id);
      assert.equal(session.state, node.state);
    }
    for (const node of path.slice(1)) {
      assert.equal(session.next(), node);
      session.move(node.id);
      assert.equal(session.state, node.state);
    }
    assert.equal(session.next(), null);
  });

  it('forks at a chosen token, keeps the branch left behind, and shows it again', async () => {
    const { session, drive } = begin({ act: ['ab', 'unused'] });
    await drive(toTheEnd);
    const old = session.tip;
    const second = session.path().filter((node) => isToken(node.reply?.kind))[1]!;
    const choice = { id: 88, text: 'X', bytes: [88], logprob: -4 };
    const chosen = chooseAlternative(session, second.id, choice);
    assert.equal(outputText(session.state.turns[0]!.act), 'aX');
    assert.equal(chosen.reply?.kind === 'token' && chosen.reply.token.origin, 'chosen');
    assert.deepEqual(
      branches(session).map(({ label, shown, tokens }) => [label, shown, tokens]),
      [
        ['main', false, 3],
        ['X', true, 2],
      ],
    );
    session.move(second.id);
    assert.equal(session.tip, old);
    assert.equal(
      chooseAlternative(session, second.id, choice),
      chosen,
      'the same choice again makes no third branch',
    );
    assert.equal(branches(session).length, 2);
  });

  it('ends the output where the end token is chosen', async () => {
    const { session, drive } = begin({ act: ['abc'] });
    await drive(oneToken);
    await drive(oneToken);
    const { reply, id } = session.cursor;
    const end = reply?.kind === 'token' ? reply.token.alternatives.find((other) => other.id === END)! : null;
    chooseAlternative(session, id, end!);
    assert.equal(stopOf(session), 'answered');
    assert.equal(outputText(session.state.turns[0]!.act), 'a');
  });

  it('samples an output again as another draw, with other seeds from there on', async () => {
    const { session, drive, policy } = begin(GOOD);
    await drive(toTheEnd);
    const first = policy.requests.map((request) => request.seed);
    const rehearsal = session
      .path()
      .find((node) => node.state.position.kind === 'tokens' && node.state.position.role === 'rehearse')!;
    sampleAgain(session, rehearsal.id);
    assert.equal(session.state.turns[0]!.calls[0]!.rehearsal!.tokens, null);
    await drive(toTheEnd);
    const again = policy.requests.slice(first.length).map((request) => request.seed);
    assert.equal(again.length, 4);
    assert.ok(again.every((seed) => !first.includes(seed)));
    assert.equal(branches(session).length, 2);
  });

  it('restarts the task as a branch of its own', async () => {
    const { session, drive } = begin(GOOD);
    restartTask(session);
    assert.equal(session.nodes.length, 1, 'nothing to repeat yet');
    await drive(oneOutput);
    restartTask(session);
    assert.equal(session.state.turns.length, 1);
    assert.equal(session.state.turns[0]!.act.tokens, null);
    assert.deepEqual(
      branches(session).map(({ label }) => label),
      ['main', 'draw 2'],
    );
  });

  it('is the same again from its records, place and branches included', async () => {
    const { session, drive, records } = begin(GOOD);
    await drive(toTheEnd);
    const token = session.path().find((node) => isToken(node.reply?.kind))!;
    chooseAlternative(session, token.id, { id: 88, text: 'X', bytes: [88], logprob: -4 });
    session.move(0);
    const copy = new Session(session.setup);
    for (const record of JSON.parse(JSON.stringify(records))) copy.replay(record);
    assert.deepEqual(sessionView(copy), sessionView(session));
    assert.equal(copy.cursor.id, 0);
    assert.equal(copy.tip.id, session.tip.id);
  });

  it('refuses records that do not fit, and stays as it was', () => {
    const { session } = begin(GOOD);
    const before = sessionView(session);
    assert.throws(() => session.replay({ t: 'reply', id: 5, parent: 0, reply: { kind: 'observation' } }));
    assert.throws(() => session.replay({ t: 'reply', id: 1, parent: 0, reply: { kind: 'observation' } }));
    assert.throws(() => session.replay({ t: 'at', at: 3, tip: 3 }));
    assert.deepEqual(sessionView(session), before);
  });
});
