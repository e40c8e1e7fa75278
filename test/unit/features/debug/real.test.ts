/** The debugger and the real tools: a real module runs; only the person's answer is given by the test. */
import assert from 'node:assert/strict';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { LiveSession } from '../../../../src/features/session/live';
import { children } from '../../node/tools/support';
import { Scripted, textAt } from '../session/scripted';
import { Client } from './client';

const LOOK = 'get_order({"order_id": "#W42"})';

describe('the debugger and the real tools', () => {
  let script: Scripted;
  let live: LiveSession;
  let client: Client;

  async function launch(filters: string[] = []): Promise<void> {
    await client.launch({}, { filters });
    await client.event('stopped');
  }
  const names = async ({ variablesReference }: P.EvaluateResponse['body']) =>
    Object.fromEntries((await client.variables(variablesReference)).map(({ name, value }) => [name, value]));

  beforeEach(() => {
    script = new Scripted();
    live = script.live();
    client = new Client(live);
  });
  afterEach(async () => {
    await live.close();
    assert.deepEqual(children(), []);
  });

  it('executes a call behind ! from the console only', async () => {
    await launch();
    for (const context of ['watch', 'hover', 'clipboard', 'variables'])
      for (const mark of ['!', '?'])
        await assert.rejects(client.evaluate(mark + LOOK, context), /Only the debug console/);
    assert.deepEqual(script.asked, []);
    const answer = await client.evaluate(`!${LOOK}`, 'repl');
    assert.equal(answer.result, 'real result: {"status": "pending", "total": 12}');
    const rows = await names(answer);
    assert.equal(rows.status, '"pending"');
    assert.match(rows.duration!, /ms$/);
    assert.match(
      (await client.evaluate('! get_order({"order_id": "W42"})', 'repl')).result,
      /^real error: .*not found/,
    );
    assert.equal(script.given, 0, 'nothing was sampled');
  });

  it('executes where the session stands: behind the calls of the branch that may write', async () => {
    await launch();
    await client.step('continue');
    const answer = await client.evaluate(`!${LOOK}`, 'repl');
    assert.match(answer.result, /"status": "cancelled"/);
  });

  it('does both behind ? and says what differs', async () => {
    await launch();
    const answer = await client.evaluate(`?${LOOK}`, 'repl');
    assert.match(answer.result, /^differs; \$\.total missing: rehearsed nothing, really 12/);
    const rows = await names(answer);
    assert.match(rows.rehearsed!, /^rehearsed result/);
    assert.match(rows.real!, /^real result/);
  });

  it('says so where a call was not allowed, where the tool fails, and where there is no call', async () => {
    await launch();
    await assert.rejects(client.evaluate('!token.logprob', 'repl'), /Write a call behind the mark/);
    await assert.rejects(client.evaluate('!get_order({order_id: 1})', 'repl'), /not JSON/);
    await assert.rejects(client.evaluate('!fly_to_moon({})', 'repl'), /has no tool/);
    script.allows = false;
    await assert.rejects(client.evaluate(`?${LOOK}`, 'repl'), /did not allow get_order/);
    assert.equal(script.given, 0, 'nothing was sampled for a person who said no');
  });

  it('stops where a rehearsal differs from the real tool, and nowhere else', async () => {
    await launch(['differsFromReal']);
    const stop = await client.step('continue');
    assert.equal(stop.reason, 'exception');
    // The first call is answered alike by both; the second one lacks the total.
    assert.match(stop.text!, /\$\.total: rehearsed nothing, really 12/);
    assert.equal(live.session.state.turns.length, 2);
    assert.match(textAt(live), /pending/);
    const info = await client.request<P.ExceptionInfoResponse['body']>('exceptionInfo', { threadId: 1 });
    assert.equal(info.exceptionId, 'Rehearsal Differs From the Real Tool');
    const executed = script.asked.length;
    await client.step('continue');
    assert.equal((await client.step('reverseContinue')).reason, 'exception');
    assert.ok(script.asked.length >= executed);
    const { length } = script.asked;
    await client.step('next');
    assert.equal(script.asked.length, length, 'what was compared is not executed again');
  });

  it('does not ask at each call where the person said no once', async () => {
    script.allows = false;
    await launch(['differsFromReal']);
    assert.equal((await client.step('continue')).reason, 'end');
    assert.equal(script.asked.length, 1);
  });

  it('executes nothing without the filter', async () => {
    await launch();
    await client.step('continue');
    assert.deepEqual(script.asked, []);
  });
});
