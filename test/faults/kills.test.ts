/**
 * A training run whose runner, engine or both are killed at random instants ends as the run that was left alone: the
 * same metrics, times aside, and the same bits of weights and optimizer. `REHEARSAL_KILLS` says how many kills.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { program } from '../../build.mjs';
import type { Metrics, RunStatus } from '../../src/core/training/run.types';
import { RunReader } from '../../src/node/runs/reader';
import { RunStore } from '../../src/node/runs/store';
import { type StartedEngine, startEngine } from '../unit/support/engine';
import { ROOT, temporary, tinyModel } from '../unit/support/server';
import { addressFile, MODEL, phaseFile, tinyConfig } from '../unit/support/tiny-run';

const KILLS = Number(process.env.REHEARSAL_KILLS ?? 30);
const PHASES = ['sampling', 'learning', 'saving'] as const;
/** Runs that end before the kill, in a row: more of them mean that a phase is never met. */
const MOST_ENDED = 10;
const VICTIMS = ['runner', 'engine', 'both'] as const;

describe(`a run killed ${KILLS} times`, function () {
  this.timeout(60 * 60_000);
  const worlds: World[] = [];
  after(() => Promise.all(worlds.map((world) => world.end())));

  it('ends with the same metrics and the same bits as the run that was left alone', async () => {
    const calm = await World.make('calm');
    worlds.push(calm);
    await calm.finish();
    const rough = await World.make('rough');
    worlds.push(rough);
    const hit: Record<string, number> = {};
    for (let kill = 0, ended = 0; kill < KILLS; ) {
      const phase = PHASES[kill % PHASES.length]!;
      const victim = VICTIMS[Math.floor(kill / PHASES.length) % VICTIMS.length]!;
      const during = await rough.killIn(phase, victim);
      if (during === null) {
        assert.ok(++ended <= MOST_ENDED, `${ended} runs ended before they were ${phase}`);
        rough.again();
        continue;
      }
      hit[during] = (hit[during] ?? 0) + 1;
      kill++;
      ended = 0;
    }
    console.log(`      killed during: ${JSON.stringify(hit)}; runs needed: ${rough.runs.length}`);
    await rough.finish();
    for (const run of rough.runs) {
      assert.deepEqual(rough.metrics(run), calm.metrics(calm.runs[0]!));
      assert.deepEqual(rough.weights(run), calm.weights(calm.runs[0]!));
      assert.deepEqual(await rough.rollouts(run), await calm.rollouts(calm.runs[0]!));
    }
    for (const phase of PHASES)
      assert.ok((hit[phase] ?? 0) >= Math.floor(KILLS / 6), `${phase}: ${hit[phase]} kills`);
  });
});

/** A home with an engine and a runner, either of which is started again when it is gone. */
class World {
  readonly runs: string[] = [];
  private runner: ChildProcess | null = null;

  private constructor(
    readonly home: string,
    private readonly model: string,
    private readonly program: string,
    private engine: StartedEngine,
  ) {}

  static async make(name: string): Promise<World> {
    const home = temporary(`faults-${name}`);
    fs.mkdirSync(path.join(home, 'runs'));
    const model = await tinyModel();
    const world = new World(home, model, await bundled(home), await World.engineFor(home, model));
    world.again();
    return world;
  }

  private static async engineFor(home: string, model: string): Promise<StartedEngine> {
    const more = ['--deterministic', '--threads', '1', '--checkpoints', path.join(home, 'runs')];
    const engine = await startEngine({ [MODEL]: model }, ...more);
    fs.writeFileSync(addressFile(home), engine.baseUrl);
    return engine;
  }

  /** One more run of the same kind. */
  again(): void {
    const root = path.join(this.home, 'runs');
    const store = RunStore.create(root, tinyConfig(this.home));
    this.runs.push(store.status.id);
    void store.close().then(() => this.startRunner());
  }

  private startRunner(): void {
    fs.rmSync(phaseFile(this.home), { force: true });
    const args = [this.program, this.home, this.runs.at(-1)!];
    this.runner = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  private get phase(): string {
    try {
      return fs.readFileSync(phaseFile(this.home), 'utf8');
    } catch {
      return 'starting';
    }
  }

  private get status(): RunStatus {
    return new RunReader(path.join(this.home, 'runs'), this.runs.at(-1)!).status;
  }

  /** Waits for a phase and kills in the midst of it. The phase at that instant; null where the run ended before. */
  async killIn(phase: string, victim: (typeof VICTIMS)[number]): Promise<string | null> {
    const from = Date.now();
    for (let wait = Math.random() * (phase === 'saving' ? 60 : 400); ; wait /= 2) {
      while (this.phase !== phase) {
        if (this.isOver()) return null;
        if (Date.now() - from > 900_000) throw new Error(`never ${phase}: ${this.status.message}`);
        await pause(2);
      }
      await pause(wait);
      if (this.phase === phase) break; // else it was over sooner
    }
    const during = this.phase;
    if (this.isOver()) return null;
    if (victim !== 'engine') await killed(this.runner!);
    if (victim !== 'runner') {
      await this.engine.kill();
      this.engine = await World.engineFor(this.home, this.model);
    }
    if (victim !== 'engine') this.startRunner();
    return during;
  }

  private isOver(): boolean {
    const { state, message } = this.status;
    if (state === 'failed') throw new Error(message);
    return state === 'done';
  }

  async finish(): Promise<void> {
    while (!this.isOver()) await pause(50);
  }

  async end(): Promise<void> {
    if (this.runner) await killed(this.runner);
    await this.engine.kill();
  }

  metrics(run: string): Omit<Metrics, 'time' | 'seconds'>[] {
    const rows = new RunReader(path.join(this.home, 'runs'), run).metrics() as Metrics[];
    return rows.map(({ time, seconds, evaluation, ...row }) => ({
      ...row,
      evaluation: evaluation && { ...evaluation, seconds: 0 },
    }));
  }

  /** Digests of every file of the last checkpoint. */
  weights(run: string): Record<string, string> {
    const folder = path.join(this.home, 'runs', run, 'checkpoints/step-8');
    const names = fs.readdirSync(folder, { recursive: true }) as string[];
    const files = names.filter((name) => /weights|safetensors|optimizer|\.pt$/.test(name)).sort();
    assert.ok(files.length > 0, `the checkpoint has ${names.join(', ')}`);
    return Object.fromEntries(files.map((name) => [name, digest(path.join(folder, name))]));
  }

  async rollouts(run: string): Promise<unknown[]> {
    const reader = new RunReader(path.join(this.home, 'runs'), run);
    return (await Promise.all(Array.from({ length: 8 }, (_, i) => reader.rolloutsOf(i + 1)))).flat();
  }
}

/** The child starts many times: as one file it starts in a tenth of the time. */
async function bundled(home: string): Promise<string> {
  const outfile = path.join(home, 'child.mjs');
  await build({
    ...program,
    absWorkingDir: ROOT,
    entryPoints: ['test/faults/child.ts'],
    outfile,
    bundle: true,
    logLevel: 'error',
  });
  return outfile;
}

const digest = (file: string) => createHash('sha256').update(fs.readFileSync(file)).digest('hex');
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function killed(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('close', () => resolve());
    child.kill('SIGKILL');
  });
}
