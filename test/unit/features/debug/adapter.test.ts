import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { transcriptDocument } from '../../../../src/core/rehearsal/document';
import { sessionView } from '../../../../src/core/rehearsal/view';
import { UserError } from '../../../../src/core/user-error';
import { FIRST_CALL, Scripted, textAt } from '../session/scripted';
import { Client, FILE, TRANSCRIPT } from './client';

const GOLDEN = path.resolve(import.meta.dirname, '../../../golden/debug-adapter.jsonl');

function byName(rows: P.Variable[]): { [name: string]: string } {
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

describe('debug adapter', () => {
  it('stops before the first token and steps in its four ways', async () => {
    const live = new Scripted().live();
    const client = new Client(live);
    await client.launch();
    assert.equal((await client.event<P.StoppedEvent>('stopped')).reason, 'entry');
    assert.equal((await client.step('stepIn')).reason, 'step');
    assert.equal(textAt(live), '<tool_call>');
    await client.step('next');
    assert.equal(textAt(live), FIRST_CALL);
    await client.step('stepOut');
    assert.equal(live.session.state.turns[0]!.calls[0]!.observation?.outcome, 'error');
    const end = await client.step('continue');
    assert.equal(end.reason, 'end');
    assert.match(end.description!, /answered, reward 1\.00/);
    const console = client.messages.filter((message) => (message as P.Event).event === 'output');
    assert.match(JSON.stringify(console), /holds: cancels the order/);
    assert.ok(
      !client.messages.some((message) => (message as P.Event).event === 'terminated'),
      'one can look and step back',
    );
  });

  it('steps back and on without sampling, and restarts', async () => {
    const script = new Scripted();
    const live = script.live();
    const client = new Client(live);
    await client.launch();
    await client.event('stopped');
    await client.step('next');
    const { given } = script;
    await client.step('stepBack');
    assert.equal(live.session.cursor.id, 0);
    await client.step('next');
    assert.equal(script.given, given);
    await client.step('reverseContinue');
    assert.equal(live.session.cursor.id, 0);
    await client.step('continue');
    await client.request('restart');
    assert.equal((await client.event<P.StoppedEvent>('stopped')).reason, 'entry');
    assert.equal(textAt(live), '');
  });

  it('shows output, turn and task, with the current token selected in the transcript', async () => {
    const live = new Scripted().live();
    const client = new Client(live);
    await client.launch();
    await client.event('stopped');
    for (let i = 0; i < 4; i++) await client.step('stepIn');
    const [output, turn, task] = await client.stack();
    assert.deepEqual([output!.name, turn!.name, task!.name], ['ACT, token 4', 'turn 1', 'task cancel W42']);
    assert.equal(output!.source!.path, TRANSCRIPT);
    assert.deepEqual([task!.source!.path, task!.line], [FILE, 31]);
    const lines = transcriptDocument(sessionView(live.session)).text.split('\n');
    const selected = lines[output!.line - 1]!.slice(output!.column - 1, output!.endColumn! - 1);
    const { reply } = live.session.cursor;
    assert.equal(selected, reply?.kind === 'token' ? reply.token.text : '');
    assert.match(lines[turn!.line - 1]!, /turn 1 · ACT/);
  });

  it('shows the call, the token, the history and the checks', async () => {
    const client = new Client(new Scripted().live());
    await client.launch({}, { tools: ['get_order'] });
    await client.event('stopped');
    await client.step('continue');
    const call = await client.scope('Call and arguments');
    assert.equal(call[0]!.value, 'get_order({"order_id": "W42"})');
    const opened = await client.variables(call[0]!.variablesReference);
    const args = await client.variables(opened.find(({ name }) => name === 'arguments')!.variablesReference);
    assert.deepEqual(byName(args), { order_id: '"W42"' });
    assert.match(byName(opened).gates!, /hold/);
    await client.step('stepIn');
    const token = await client.scope('Token');
    assert.equal(byName(token).text, '"<execution_result>"');
    assert.equal(byName(token).probability, '0.900');
    assert.equal(byName(token)['log-probability'], '-0.105');
    assert.equal(byName(token).rank, '1');
    const alternatives = await client.variables(
      token.find(({ name }) => name === 'alternatives')!.variablesReference,
    );
    assert.equal(alternatives.length, 2);
    await client.step('next');
    assert.match(byName(await client.scope('History')).user!, /Cancel order W42/);
    assert.match(byName(await client.scope('Checks'))['cancels the order']!, /^fails: /);
    const turn = byName(await client.scope('Turn', 2));
    assert.match(turn['call 1']!, /get_order/);
  });

  it('shows what a model wrote with its control characters escaped', async () => {
    const nasty = 'red \x1b[31m<img src=x onerror=alert(1)> \u202Eover\x07';
    const client = new Client(new Scripted(() => [nasty]).live());
    await client.launch();
    await client.event('stopped');
    await client.step('continue');
    const strings: string[] = [];
    const all = JSON.stringify(
      [await client.scope('Call and arguments'), await client.scope('History'), client.messages],
      (_key, value) => {
        if (typeof value === 'string') strings.push(value);
        return value;
      },
    );
    const bad = strings.filter((text) => /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/.test(text));
    assert.deepEqual(bad, [], 'no control character gets through');
    assert.match(all, /\\\\x1b\[31m<img/, 'and the text is there');
  });

  it('verifies function breakpoints by the tools there are, and stops before the observation', async () => {
    const live = new Scripted().live();
    const client = new Client(live);
    await client.launch();
    await client.event('stopped');
    const { breakpoints } = await client.request<P.SetFunctionBreakpointsResponse['body']>(
      'setFunctionBreakpoints',
      {
        breakpoints: [{ name: 'cancel_order' }, { name: 'cancel' }],
      },
    );
    assert.deepEqual(
      breakpoints.map(({ verified }) => verified),
      [true, false],
    );
    assert.match(breakpoints[1]!.message!, /no tool called cancel.*get_order/);
    const stop = await client.step('continue');
    assert.equal(stop.reason, 'function breakpoint');
    assert.equal(live.session.state.turns.at(-1)!.calls[0]!.call!.name, 'cancel_order');
    assert.equal(live.session.state.turns.at(-1)!.calls[0]!.observation, null);
  });

  it('stops at exception filters and says why', async () => {
    const client = new Client(new Scripted().live());
    await client.launch({}, { filters: ['rehearsedError', 'failedGate'] });
    await client.event('stopped');
    const first = await client.step('continue');
    assert.equal(first.reason, 'exception');
    assert.match(first.text!, /Order not found/);
    const info = await client.request<P.ExceptionInfoResponse['body']>('exceptionInfo', { threadId: 1 });
    assert.equal(info.exceptionId, 'Rehearsed Error');
    await client.step('continue');
    const second = await client.request<P.ExceptionInfoResponse['body']>('exceptionInfo', { threadId: 1 });
    assert.equal(second.exceptionId, 'Failed Gate');
    assert.match(second.description!, /INVALID_PARAMETERS/);
  });

  it('takes a probability as the condition of its filter, and refuses what is none', async () => {
    const live = new Scripted().live();
    const client = new Client(live);
    await client.launch({}, { options: [{ filterId: 'belowProbability', condition: '0.95' }] });
    await client.event('stopped');
    assert.equal((await client.step('continue')).reason, 'exception');
    assert.equal(live.tokens, 1);
    const { breakpoints } = await client.request<{ breakpoints: P.Breakpoint[] }>('setExceptionBreakpoints', {
      filters: [],
      filterOptions: [{ filterId: 'belowProbability', condition: 'often' }],
    });
    assert.equal(breakpoints[0]!.verified, false);
    assert.equal((await client.step('continue')).reason, 'end');
  });

  it('takes line breakpoints on tools of the environment file and on outputs of the transcript', async () => {
    const live = new Scripted().live();
    const client = new Client(live);
    await client.launch();
    await client.event('stopped');
    const inFile = await client.request<P.SetBreakpointsResponse['body']>('setBreakpoints', {
      source: { path: FILE },
      breakpoints: [{ line: 15 }, { line: 2 }],
    });
    assert.deepEqual(
      inFile.breakpoints.map(({ verified, line }) => [verified, line]),
      [
        [true, 11],
        [false, 2],
      ],
    );
    assert.equal((await client.step('continue')).reason, 'function breakpoint');
    await client.request('setBreakpoints', { source: { path: FILE }, breakpoints: [] });
    await client.step('continue');
    const { text } = transcriptDocument(sessionView(live.session));
    const line = text.split('\n').findIndex((one) => one.includes('turn 2 · REHEARSE')) + 1;
    const inTranscript = await client.request<P.SetBreakpointsResponse['body']>('setBreakpoints', {
      source: { path: TRANSCRIPT },
      breakpoints: [{ line: line + 1 }],
    });
    assert.deepEqual(
      inTranscript.breakpoints.map((one) => [one.verified, one.line]),
      [[true, line]],
    );
    await client.request('setFunctionBreakpoints', { breakpoints: [] });
    assert.equal((await client.step('reverseContinue')).reason, 'breakpoint');
    assert.equal(live.session.state.turns.length, 2);
    assert.equal(live.session.state.turns[1]!.calls[0]!.rehearsal, null);
  });

  it('rehearses a call from the console only, and writes nothing into the session', async () => {
    const script = new Scripted();
    const live = script.live();
    const client = new Client(live);
    await client.launch();
    await client.event('stopped');
    await client.step('stepOut');
    const { given } = script;
    const nodes = live.session.nodes.length;
    for (const context of ['watch', 'hover', 'clipboard', 'variables']) {
      await assert.rejects(
        client.evaluate('get_order({"order_id": "#W42"})', context),
        /Only the debug console/,
      );
    }
    assert.equal(script.given, given, 'nothing was sampled');
    const answer = await client.evaluate('get_order({"order_id": "#W42"})', 'repl');
    assert.equal(answer.result, 'rehearsed result: {"status": "pending"}');
    assert.ok(script.given > given);
    assert.deepEqual(byName(await client.variables(answer.variablesReference)), { status: '"pending"' });
    assert.match(
      (await client.evaluate('cancel_order({})', 'repl')).result,
      /^gate error: .*INVALID_PARAMETERS/,
    );
    assert.match((await client.evaluate('fly_to_moon({})', 'repl')).result, /TOOL_NOT_AVAILABLE/);
    await assert.rejects(client.evaluate('get_order({order_id: 1})', 'repl'), /not JSON/);
    assert.equal(live.session.nodes.length, nodes);
  });

  it('reads paths in watch and hover', async () => {
    const client = new Client(new Scripted().live());
    await client.launch();
    await client.event('stopped');
    await client.step('next');
    const value = async (expression: string) => (await client.evaluate(expression, 'watch')).result;
    assert.equal(await value('turn'), '1');
    assert.equal(await value('call.arguments.order_id'), '"W42"');
    assert.equal(await value('call["tool"]'), '"get_order"');
    assert.match(await value('token.alternatives[0].probability'), /^0\.9/);
    assert.equal(await value('reward'), '0');
    for (const bad of ['nothing', 'token.nothing', 'token.__proto__', 'constructor', '1 + 1', '']) {
      await assert.rejects(client.evaluate(bad, 'hover'), Error, bad);
    }
  });

  it('follows a session that the panel moves, and leaves the keyboard there', async () => {
    const live = new Scripted().live();
    const client = new Client(live);
    await client.launch();
    await client.event('stopped');
    const step = live.step('output', 'panel');
    assert.equal((await client.event<P.ContinuedEvent>('continued')).threadId, 1);
    const stop = await client.event<P.StoppedEvent>('stopped');
    await step;
    assert.equal(stop.preserveFocusHint, true);
    const fork = live.session
      .path()
      .find(({ reply }) => reply?.kind === 'token' && reply.token.alternatives.length > 2)!;
    const { reply } = fork;
    await live.choose(fork.id, reply?.kind === 'token' ? reply.token.alternatives[1]!.id : -1, 'panel');
    assert.equal((await client.event<P.StoppedEvent>('stopped')).reason, 'goto');
    assert.match((await client.stack())[0]!.name, /^ACT, token/);
  });

  it('says what failed and goes on once the server is back', async () => {
    const script = new Scripted();
    const live = script.live();
    const client = new Client(live);
    await client.launch();
    await client.event('stopped');
    script.faults.dieAfter = 2;
    const stop = await client.step('next');
    assert.equal(stop.reason, 'exception');
    assert.match(stop.text!, /died after 2 tokens.*Continue/);
    delete script.faults.dieAfter;
    assert.equal((await client.step('next')).reason, 'step');
    assert.equal(textAt(live), FIRST_CALL);
  });

  it('pauses while it runs', async () => {
    const script = new Scripted();
    const live = script.live();
    const client = new Client(live);
    await client.launch();
    await client.event('stopped');
    script.faults.hangAfter = 3;
    await client.request('continue', { threadId: 1 });
    while (script.given < 3) await new Promise((ok) => setImmediate(ok));
    await client.request('pause', { threadId: 1 });
    assert.equal((await client.event<P.StoppedEvent>('stopped')).reason, 'pause');
    assert.equal(live.tokens, 3);
  });

  it('runs through without debugging, whatever breakpoints there are, and ends', async () => {
    const live = new Scripted().live();
    const client = new Client(live);
    await client.launch({ noDebug: true }, { tools: ['get_order'], filters: ['failedGate'] });
    await client.event('terminated');
    assert.equal(live.status, 'ended');
    assert.equal(client.left, true);
  });

  it('shows an error of the launch once, with its button', async () => {
    const error = new UserError('No server answers.', 'Start it.', {
      title: 'Start Server',
      id: 'startServer',
    });
    const client = new Client(() => Promise.reject(error));
    await assert.rejects(client.launch(), /No server answers/);
    assert.deepEqual(client.errors, [error]);
  });

  it('samples an output, a turn and the task again by Restart Frame', async () => {
    const live = new Scripted().live();
    const client = new Client(live);
    await client.launch();
    await client.event('stopped');
    await client.step('stepOut');
    await client.request('restartFrame', { frameId: 1 });
    await client.event('stopped');
    assert.match((await client.stack())[0]!.name, /^REHEARSE get_order$/);
    await client.request('restartFrame', { frameId: 2 });
    await client.event('stopped');
    assert.equal((await client.stack())[0]!.name, 'ACT');
    assert.equal(live.session.state.draw, 2);
  });

  it('ends when told to, and leaves the session as it is', async () => {
    const live = new Scripted().live();
    const client = new Client(live);
    await client.launch();
    await client.event('stopped');
    await client.step('next');
    await client.request('terminate');
    await client.event('terminated');
    assert.equal(client.left, true);
    await live.step('output', 'panel');
    assert.equal(live.session.state.turns[0]!.calls[0]!.observation?.outcome, 'error');
  });

  it('speaks as the golden transcript says', async () => {
    const client = new Client(new Scripted().live());
    await client.launch({}, { tools: ['cancel_order'], filters: ['rehearsedError'] });
    await client.event('stopped');
    for (const command of ['stepIn', 'next', 'continue', 'continue', 'stepBack', 'continue']) {
      await client.step(command);
      await client.stack();
      await client.scope('Token');
      await client.scope('Call and arguments');
    }
    await client.request('disconnect');
    const lines = client.messages.map((message) => JSON.stringify({ ...message, seq: 0 })).join('\n');
    // References are handed out anew at each stop, and token ids are as the vocabulary has them.
    const masked = `${lines
      .replace(/"variablesReference":[1-9]\d*/g, '"variablesReference":1')
      .replace(/("name":"id","value":)"\d+"/g, '$1"0"')}\n`;
    if (process.env.UPDATE_GOLDEN) fs.writeFileSync(GOLDEN, masked);
    assert.equal(masked, fs.readFileSync(GOLDEN, 'utf8'));
  });
});
