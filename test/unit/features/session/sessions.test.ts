import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UserError } from '../../../../src/core/user-error';
import { Sessions } from '../../../../src/features/session/sessions';
import { ENVIRONMENT, FIRST_CALL, FIRST_RESULT, Scripted, textAt } from './scripted';

describe('open sessions', () => {
  let folder: string;
  let script: Scripted;
  const warnings: string[] = [];

  /** As a window of its own: nothing is shared but the disk. */
  const window = (environment: typeof ENVIRONMENT | null = ENVIRONMENT) =>
    new Sessions({
      environments: {
        files: async () => [],
        load: async (file) => ({
          file,
          environment,
          diagnostics: environment
            ? []
            : [{ severity: 'error', code: 'syntax', message: 'A comma is missing', offset: 0, length: 1 }],
          lineOfTool: () => undefined,
          lineOfTask: () => undefined,
        }),
      },
      server: {
        connect: async () => script.policy(),
        models: async () => ['memory'],
        address: async () => null,
      },
      settings: {
        sampling: () => ({ temperature: 1, topP: 1, topK: -1, minP: 0, seed: 7, alternatives: 5 }),
        model: () => undefined,
      },
      tools: {
        executorFor: (_file, of) => script.tools().executorFor(of),
        checksOf: () => ({ folder, gate: async () => {} }),
      },
      log: { info() {}, warn: (message) => warnings.push(message), error() {}, show() {} },
      folderOf: () => folder,
    });

  const request = () => ({ file: path.join(folder, 'shop.rehearsal.json'), task: 'cancel W42' });

  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sessions-'));
    script = new Scripted();
    warnings.length = 0;
  });

  afterEach(() => fs.rmSync(folder, { recursive: true }));

  it('say so where another window has gone on with the same session, and lose nothing', async () => {
    const first = await window().create(request());
    await first.step('token');
    const second = await window().open(first.file);
    await second.step('output');
    const kept = fs.readFileSync(first.file, 'utf8');
    const before = textAt(first);
    await first.step('token');
    assert.equal(first.status, 'failed');
    assert.match(first.lastStop.text, /another program/i);
    assert.ok(first.failure!.next.endsWith('.'));
    assert.equal(textAt(first), before);
    assert.equal(fs.readFileSync(first.file, 'utf8'), kept);
  });

  it('are saved as they go, and opened again by another window with every token', async () => {
    const first = window();
    const live = await first.create(request());
    assert.equal(live.session.setup.options.seed, 7);
    await live.step('token');
    await live.step('output');
    const { given } = script;
    await first.closeAll();
    const again = await window().open(live.file);
    assert.equal(textAt(again), FIRST_CALL);
    assert.equal(again.tokens, given);
    assert.equal(again.environmentFile, request().file);
    await again.step('output');
    assert.equal(textAt(again), FIRST_CALL + FIRST_RESULT, 'and stepping goes on');
    await again.back();
    assert.equal(textAt(again), FIRST_CALL);
  });

  it('go on from wherever a kill has cut their file', async () => {
    const live = await window().create(request());
    await live.step('output');
    const whole = fs.readFileSync(live.file);
    const header = whole.indexOf('\n') + 1;
    for (const at of [header, header + 1, Math.floor((header + whole.length) / 2), whole.length - 1]) {
      const file = path.join(path.dirname(live.file), `cut-${at}.jsonl`);
      fs.writeFileSync(file, whole.subarray(0, at));
      const cut = await window().open(file);
      assert.ok(FIRST_CALL.startsWith(textAt(cut)), `cut at ${at}`);
      await cut.step('continue');
      assert.equal(cut.status, 'ended', `cut at ${at}`);
      assert.ok(textAt(cut).startsWith(FIRST_CALL + FIRST_RESULT), `cut at ${at}`);
    }
  });

  it('say that a file is damaged, and keep what came before', async () => {
    const live = await window().create(request());
    await live.step('output');
    const lines = fs.readFileSync(live.file, 'utf8').split('\n');
    lines[4] = '{"t":"reply","id":';
    fs.writeFileSync(live.file, lines.join('\n'));
    const again = await window().open(live.file);
    assert.match(again.lastStop.text, /damaged in line 5/);
    assert.equal(warnings.length, 1);
    await again.step('output');
    assert.equal(textAt(again), FIRST_CALL);
    assert.equal(fs.readFileSync(live.file, 'utf8'), lines.join('\n'), 'the damaged file is left as it is');
  });

  it('are open once in a window', async () => {
    const sessions = window();
    const live = await sessions.create(request());
    assert.equal(await sessions.open(live.file), live);
    assert.equal(sessions.all.length, 1);
  });

  it('end with a clear message where the environment, the task or the server cannot be had', async () => {
    const says = (message: RegExp, next: RegExp) => (error: unknown) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, message);
      assert.match(error.next, next);
      return true;
    };
    await assert.rejects(window(null).create(request()), says(/A comma is missing/, /Problems/));
    await assert.rejects(window().create({ ...request(), task: 'x' }), says(/no task x/, /cancel W42/));
    script.faults.missing = true;
    await assert.rejects(window().create(request()), says(/No server answers/, /Start it/));
    await assert.rejects(window().open(path.join(folder, 'none.jsonl')), says(/cannot be opened/, /./));
    assert.ok(!fs.existsSync(path.join(folder, '.rehearsal')), 'nothing is left behind');
  });

  it('survive whatever a model writes', async () => {
    const nasty: { [name: string]: string } = {
      nothing: '',
      'only reasoning': '<think>hm</think>',
      'half a call': '<tool_call>\n{"name": "get_order", "argum',
      'one letter': 'a'.repeat(10_000),
      'HTML and ANSI codes': '<img src=x onerror=alert(1)>\x1b[31m\x00',
    };
    for (const [name, text] of Object.entries(nasty)) {
      script = new Scripted(() => [text]);
      const live = await window({ ...ENVIRONMENT, maxTurns: 2 }).create(request());
      await live.step('continue');
      assert.equal(live.status, 'ended', name);
      assert.match(live.lastStop.text, /^Ended: /, name);
    }
  });
});
