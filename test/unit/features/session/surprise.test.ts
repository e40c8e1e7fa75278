/** The surprise of a real answer beside a session, scored by the embedded model itself. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { createRenderer } from '../../../../src/core/conversation/render';
import { scoredText } from '../../../../src/core/fidelity/surprise';
import { sessionView } from '../../../../src/core/rehearsal/view';
import { LiveSession } from '../../../../src/features/session/live';
import { connectPolicy } from '../../../../src/node/policies/connect';
import { type StartedEngine, startEngine } from '../../support/engine';
import { ROOT } from '../../support/server';
import { Scripted } from './scripted';

describe('the surprise of a real answer beside a session', function () {
  this.timeout(120_000);
  let engine: StartedEngine;

  before(async () => {
    engine = await startEngine({ nano: path.join(ROOT, 'server/nano/models/nano') }, '--threads', '1');
  });
  after(() => engine?.kill());

  it('is that of its own text, token by token, as nano finds it', async () => {
    const script = new Scripted();
    const written = script.live();
    await written.step('continue');
    const policy = await connectPolicy({ baseUrl: engine.baseUrl });
    const { id, file, environmentFile, session } = written;
    const live = new LiveSession({
      ...{ id, file, environmentFile, session },
      tools: script.tools(),
      connect: async () => ({ policy, render: createRenderer(policy) }),
    });
    const { node } = sessionView(session).turns[1]!.calls[0]!.observation!;
    await live.beside.execute(node);
    await live.beside.score(node);
    const { answer, surprise, unscored } = live.beside.get(node)!;
    assert.equal(unscored, null);
    assert.equal(surprise!.marks.map(({ text }) => text).join(''), scoredText(answer!));
    const counted = surprise!.marks.filter((mark) => mark.counted);
    assert.equal(surprise!.tokens, counted.length);
    assert.match(counted.map(({ text }) => text).join(''), /"status": ?"pending"/);
    assert.ok(counted.every(({ bits }) => bits !== null && bits >= 0));
    const sum = counted.reduce((total, { bits }) => total + bits!, 0);
    assert.ok(surprise!.bitsPerToken! > 0);
    assert.ok(Math.abs(surprise!.bitsPerToken! - sum / counted.length) < 1e-9);
    await live.close();
    await written.close();
  });
});
