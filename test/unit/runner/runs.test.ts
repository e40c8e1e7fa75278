/** Training runs over the real server: launched, followed, queued, stopped, gone on with after a kill. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Metrics, RunStatus } from '../../../src/core/training/run.types';
import { RunsClient } from '../../../src/node/runs/client';
import { findServer } from '../../../src/node/server/discovery';
import { ensureServer, stopServer } from '../../../src/node/server/ensure';
import { openSession } from '../../../src/node/sessions/file';
import { serverOptions, temporary } from '../support/server';
import { SHOP, TASK } from '../support/shop';
import { newRun } from '../support/training';

/** A run of a model with random weights: a few tokens an output, so that it takes seconds. */
function tinyRun(name: string, steps: number) {
  return newRun(
    {
      name,
      environment: { ...SHOP, tasks: [], maxTurns: 2, limits: { act: 12, rehearse: 12 } },
      parts: { train: [TASK], validation: [{ ...TASK, id: 'other' }], test: [] },
    },
    { steps, evaluation: { every: 1, attempts: 1, recorded: false }, checkpoints: { every: 1, keep: 3 } },
  );
}

describe('training runs of the server', function () {
  this.timeout(300_000);
  let home: string;
  let client: RunsClient;
  let pid: number;

  before(async () => {
    home = temporary('training');
    pid = (await ensureServer(await serverOptions(home))).pid;
    client = new RunsClient(
      async () => (await findServer(home)) ?? (await ensureServer(await serverOptions(home))),
    );
  });
  after(() => stopServer(home));

  async function until(id: string, ...states: RunStatus['state'][]): Promise<RunStatus> {
    for (;;) {
      const status = await client.get(id);
      if (states.includes(status.state)) return status;
      assert.notEqual(status.state, 'failed', status.message);
      await sleep(100);
    }
  }

  /** All that happens in a run, until it has ended. */
  async function followed(id: string) {
    const ended = new AbortController();
    const rows: Metrics[] = [];
    const states: string[] = [];
    await client.follow(id, {
      signal: ended.signal,
      onMetrics: (more, from) => rows.splice(from, rows.length, ...more),
      onStatus: ({ state }) => {
        if (states.at(-1) !== state) states.push(state);
        if (['done', 'failed', 'stopped'].includes(state)) ended.abort();
      },
    });
    return { rows, states };
  }

  it('trains, and tells each step while it does', async () => {
    const { id, state } = await client.launch(tinyRun('first', 2));
    assert.equal(id, 'first-1');
    assert.ok(['queued', 'starting', 'running'].includes(state), state);
    const { rows, states } = await followed(id);
    assert.equal(states.at(-1), 'done', (await client.get(id)).message);
    assert.deepEqual(
      rows.map(({ step }) => step),
      [0, 1, 2],
    );
    assert.deepEqual(await client.metrics(id), rows);
    assert.deepEqual(await client.metrics(id, 2), rows.slice(2));
    assert.deepEqual(await client.steps(id), [
      { step: 1, rollouts: 2 },
      { step: 2, rollouts: 2 },
    ]);
    const status = await client.get(id);
    assert.deepEqual(
      status.checkpoints.map(({ step }) => step),
      [0, 1, 2],
    );
    assert.deepEqual(
      (await client.list()).map((run) => run.id),
      [id],
    );
    const server = await findServer(home);
    assert.deepEqual(server!.health.training, { running: null, queued: 0 });
  });

  it('sends what a follower lacks, and everything to one whose rows are no more', async () => {
    const { url, token } = (await findServer(home))!;
    const all = await client.metrics('first-1');
    /** Events of a finished run from `Last-Event-ID` on, as `name id data`. */
    async function events(last?: string) {
      const stop = new AbortController();
      const answer = await fetch(`${url}/runs/first-1/events`, {
        headers: {
          authorization: `Bearer ${token}`,
          ...(last === undefined ? {} : { 'last-event-id': last }),
        },
        signal: stop.signal,
      });
      const found: { event: string; id: string; data: Record<string, unknown> }[] = [];
      let text = '';
      for await (const part of answer.body!) {
        text += Buffer.from(part as Uint8Array);
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const lines = text
            .slice(0, end)
            .split('\n')
            .map((line) => line.split(/: (.*)/s).slice(0, 2));
          text = text.slice(end + 2);
          const { event, id, data } = Object.fromEntries(lines);
          found.push({ event, id, data: JSON.parse(data) });
        }
        if (found.at(-1)?.event === 'metrics' && found.at(-1)!.data.step === all.at(-1)!.step) break;
        if (last === ids.at(-1) && found.length) break;
      }
      stop.abort();
      return found;
    }
    const ids: string[] = [];
    const first = await events();
    ids.push(...first.filter(({ event }) => event === 'metrics').map(({ id }) => id));
    const names = (found: { event: string }[]) => found.map(({ event }) => event);
    assert.deepEqual(names(first), ['status', 'metrics', 'metrics', 'metrics']);
    assert.deepEqual(
      first.slice(1).map(({ data }) => data),
      all,
    );
    const rest = await events(ids[1]);
    assert.deepEqual(names(rest), ['status', 'metrics']);
    assert.deepEqual(rest[1]!.data, all[2]);
    assert.deepEqual(names(await events(ids[2])), ['status']);
    for (const gone of ['2/2020-01-01T00:00:00.000Z', '9', 'nonsense']) {
      const again = await events(gone);
      assert.deepEqual(names(again), ['rewind', 'status', 'metrics', 'metrics', 'metrics'], gone);
      assert.deepEqual(again[0]!.data, { rows: 0 });
    }
  });

  it('gives a rollout as a session that can be opened, with the weights nearest to those that sampled it', async () => {
    const [rollout] = await client.rollouts('first-1', 2);
    assert.deepEqual(rollout!.records, [], 'the list does without what only a session needs');
    const { text, checkpoint } = await client.session('first-1', 2, rollout!.index);
    assert.equal(checkpoint, 1);
    const file = path.join(temporary('rollout'), 'one.jsonl');
    fs.writeFileSync(file, text);
    const { session, close } = openSession(file);
    assert.equal(session.setup.policy.model, 'first-1/step-1');
    const ids = session.state.turns[0]!.act;
    assert.equal(ids.end === null, false);
    assert.equal(session.state.turns.length, Math.max(...rollout!.outputs.map(({ turn }) => turn)));
    close();
    const lines = (await new Response(await client.exportRollouts('first-1')).text()).trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({ run, step, index }) => [run, step, index]),
      [
        ['first-1', 1, 0],
        ['first-1', 1, 1],
        ['first-1', 2, 0],
        ['first-1', 2, 1],
      ],
    );
  });

  it('exports a checkpoint as a model, and says what there is where it has none', async () => {
    const folder = path.join(temporary('exported'), 'model');
    const { folders } = await client.export('first-1', 2, 'merged', folder);
    assert.deepEqual(folders, [folder]);
    for (const name of ['config.json', 'tokenizer.json', 'model.safetensors'])
      assert.ok(fs.existsSync(path.join(folder, name)), name);
    const cases: [Promise<unknown>, RegExp][] = [
      [client.export('first-1', 2, 'merged', folder), /not empty/],
      [client.export('first-1', 9, 'merged', `${folder}-2`), /no checkpoint of step 9/],
      [client.export('first-1', 2, 'peft', `${folder}-2`), /has no adapter/],
    ];
    for (const [exporting, message] of cases) await assert.rejects(exporting, { code: 'run-state', message });
    await assert.rejects(client.export('first-1', 2, 'merged', 'relative'), { code: 'run-refused' });
    const file = path.join(home, 'run', 'token');
    await assert.rejects(client.export('first-1', 2, 'merged', file), {
      code: 'run-state',
      message: /is no folder/,
    });
  });

  it('estimates a run from what it measures, and leaves nothing behind', async () => {
    const found = await client.probe(tinyRun('probed', 10));
    assert.ok(found.secondsPerStep! > 0 && found.tokensPerStep! > 0, found.why);
    assert.ok(found.seconds! >= 10 * found.secondsPerStep!);
    assert.ok(found.memoryBytes! > 0);
    assert.match(found.why, /Measured on 2 rollouts/);
    assert.deepEqual(
      (await client.list()).map(({ id }) => id),
      ['first-1'],
    );
  });

  it('does one at a time, stops one that runs and one that waits, and goes on with it', async () => {
    const long = (await client.launch(tinyRun('long', 500))).id;
    const waiting = (await client.launch(tinyRun('waiting', 1))).id;
    assert.equal((await client.get(waiting)).state, 'queued');
    await until(long, 'running');
    const server = await findServer(home);
    assert.deepEqual(server!.health.training, { running: long, queued: 1 });
    assert.ok(server!.health.active >= 2, 'a server that trains is not replaced');
    await assert.rejects(client.remove(long), { code: 'run-state', message: /is (running|starting)/ });
    while ((await client.metrics(long)).length < 3) await sleep(100);
    await client.stop(waiting);
    assert.equal((await client.get(waiting)).state, 'stopped');
    await client.stop(long);
    const stopped = await until(long, 'stopped');
    assert.ok(stopped.checkpoints.length >= 2, 'what was learned is kept');
    assert.equal((await client.resume(waiting)).state === 'stopped', false);
    await until(waiting, 'done');
    await client.remove(waiting);
    await assert.rejects(client.get(waiting), { code: 'run-unknown' });
    assert.equal(fs.existsSync(path.join(home, 'runs', waiting)), false);
  });

  it('keeps what a branch starts from while that is at work, and ends a branch whose start is gone', async () => {
    const stem = (await client.launch(tinyRun('stem', 1))).id;
    await until(stem, 'done');
    const run = tinyRun('branch', 30);
    const { id } = await client.launch({
      ...run,
      parts: { ...run.parts, test: [{ ...TASK, id: 'held' }] },
      settings: { ...run.settings, start: `${stem}/step-1` },
      parent: { run: stem, step: 1 },
    });
    await assert.rejects(client.remove(stem), { code: 'run-state', message: /is what branch-1 starts from/ });
    while ((await client.metrics(id)).length < 2) await sleep(50);
    await client.stop(id);
    await until(id, 'stopped');
    await client.remove(stem);
    await client.resume(id);
    const { result, warnings, step } = await until(id, 'done');
    assert.deepEqual([step, result ?? null], [30, null]);
    assert.match(warnings.at(-1)!.message, /what it started from is gone.* stem-1/);
    await client.remove(id);
  });

  it('keeps the checkpoint that a branch waits for, however long it goes on', async () => {
    const long = tinyRun('grows', 500);
    const { id } = await client.launch({
      ...long,
      settings: {
        ...long.settings,
        checkpoints: { every: 1, keep: 1 },
        evaluation: { ...long.settings.evaluation, every: 0 },
      },
    });
    const keptAt = async (step: number) =>
      (await client.get(id)).checkpoints.some((one) => one.step === step && one.kept && one.addresses);
    while (!(await client.get(id)).checkpoints.some(({ addresses }) => addresses)) await sleep(20);
    await client.stop(id);
    const { checkpoints } = await until(id, 'stopped');
    const { step } = checkpoints.findLast(({ kept, addresses }) => kept && addresses)!;
    const before = (await client.launch(tinyRun('before', 500))).id;
    const branch = tinyRun('patient', 1);
    await client.resume(id);
    const waits = await client.launch({
      ...branch,
      settings: { ...branch.settings, start: `${id}/step-${step}` },
      parent: { run: id, step },
    });
    await client.stop(before);
    while ((await client.get(id)).step < step + 3) await sleep(50);
    await client.stop(id);
    await until(waits.id, 'done');
    assert.ok(await keptAt(step));
    for (const one of [waits.id, id, before]) await client.remove(one);
  });

  it('is taken up again in the moment in which its end is told', async () => {
    const { id } = await client.launch(tinyRun('quick', 500));
    for (let round = 0; round < 3; round++) {
      const ended = new AbortController();
      await client.follow(id, {
        signal: ended.signal,
        onStatus: ({ state, step }) => {
          if (state === 'running' && step > round) void client.stop(id);
          if (state === 'stopped') ended.abort();
        },
      });
      const { state } = await client.resume(id);
      assert.ok(['queued', 'starting', 'running'].includes(state), state);
      await until(id, 'running');
    }
    await client.stop(id);
    await until(id, 'stopped');
    await client.remove(id);
    await assert.rejects(client.get(id), { code: 'run-unknown' });
  });

  it('goes on by itself after the server was killed, and whoever follows sees no gap', async () => {
    const { id } = await client.resume('long-1');
    const rows: Metrics[] = [];
    const stop = new AbortController();
    const troubles: (string | null)[] = [];
    const following = client.follow(id, {
      signal: stop.signal,
      onMetrics: (more, from) => rows.splice(from, rows.length, ...more),
      onTrouble: (why) => troubles.push(why),
    });
    const before = (await client.metrics(id)).length;
    while ((await client.metrics(id)).length < before + 2) await sleep(100);
    const last = (await client.metrics(id)).length;
    pid = (await findServer(home))!.pid;
    process.kill(pid, 'SIGKILL');
    while (await findServer(home)) await sleep(50);
    while (rows.length < last + 3) await sleep(100); // the client starts it again
    assert.notEqual((await findServer(home))!.pid, pid);
    assert.ok(troubles.length >= 2 && troubles.at(-1) === null, JSON.stringify(troubles));
    await client.stop(id);
    await until(id, 'stopped');
    stop.abort();
    await following;
    assert.deepEqual(
      rows.map(({ step }) => step),
      rows.map((_, i) => i),
    );
    assert.deepEqual(rows, (await client.metrics(id)).slice(0, rows.length));
  });

  it('refuses what is no run, and says why', async () => {
    const good = tinyRun('bad', 1);
    const cases: [object, RegExp][] = [
      [{}, /another version/],
      [{ ...good, name: '' }, /name is missing/],
      [{ ...good, settings: { ...good.settings, steps: 0 } }, /"settings\.steps" must be at least 1/],
      [{ ...good, settings: { ...good.settings, variant: 'x' } }, /settings\.variant/],
      [{ ...good, parts: { train: [], validation: [], test: [] } }, /no tasks/],
      [{ ...good, allowed: 'all' }, /allowed/],
      [{ ...good, environment: { ...good.environment, name: undefined } }, /environment is not whole/],
      [{ ...good, environment: { ...good.environment, tools: [null] } }, /environment is not whole/],
      [{ ...good, parts: { ...good.parts, validation: [{ id: 'x' }] } }, /parts are not whole/],
      [{ ...good, settings: { ...good.settings, kl: undefined } }, /settings\.kl is missing/],
      [{ ...good, settings: { ...good.settings, learner: {} } }, /settings\.learner\.kind is missing/],
      [{ ...good, parent: 'first-1' }, /parent is no checkpoint/],
    ];
    const branch = { ...good, parent: { run: 'first-1', step: 9 } };
    await assert.rejects(client.launch(branch), { code: 'run-state', message: /no checkpoint of step 9/ });
    for (const [config, message] of cases)
      await assert.rejects(client.launch(config as never), { code: 'run-refused', message });
    for (const id of ['..', '../first-1', 'no-such', 'a%2fb'])
      await assert.rejects(client.get(id), { code: 'run-unknown' }, id);
    await assert.rejects(client.rollouts('first-1', -1), {
      code: 'run-refused',
      message: /-1.* is no number/,
    });
    await assert.rejects(client.exportRollouts('first-1', -1), { code: 'run-refused' });
    await assert.rejects(client.session('first-1', 1, 99), { code: 'run-state' });
  });

  it('lists a run whose status is damaged, and deletes it', async () => {
    const { id } = await client.launch(tinyRun('broken', 1));
    await until(id, 'done');
    fs.writeFileSync(path.join(home, 'runs', id, 'status.json'), '{"id":');
    await assert.rejects(client.get(id), { code: 'run-unreadable' });
    const listed = (await client.list()).find((run) => run.id === id)!;
    assert.equal(listed.state, 'failed');
    assert.match(listed.message, /cannot be read/);
    await client.remove(id);
    await assert.rejects(client.get(id), { code: 'run-unknown' });
  });

  it('waits for a key that nobody has given, and keeps it nowhere but in memory', async () => {
    const judge = {
      url: 'http://127.0.0.1:9/v1',
      model: 'none',
      keyVariable: 'NO_SUCH_KEY',
      timeoutSeconds: 1,
    };
    const run = tinyRun('keyed', 500);
    const { id, state, message } = await client.launch({ ...run, settings: { ...run.settings, judge } });
    assert.equal(state, 'needs key');
    assert.match(message, /NO_SUCH_KEY/);
    await client.keys(id, { NO_SUCH_KEY: 'very-secret-value' });
    await until(id, 'running');
    while ((await client.metrics(id)).length < 2) await sleep(50);
    process.kill((await findServer(home))!.pid, 'SIGKILL');
    while (await findServer(home)) await sleep(50);
    await until(id, 'needs key'); // the server that is started now has not heard of it
    await client.keys(id, { NO_SUCH_KEY: 'very-secret-value' });
    await until(id, 'running');
    await client.stop(id);
    await until(id, 'stopped');
    const text = fs
      .readdirSync(path.join(home), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(json|jsonl|log)$/.test(name))
      .map((name) => fs.readFileSync(path.join(home, name), 'utf8'))
      .join('');
    assert.ok(text.includes('NO_SUCH_KEY') && !text.includes('very-secret-value'));
  });
});
