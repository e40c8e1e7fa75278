/** A short run of the runner itself, for the checks against real servers: a trivial environment, a tiny model. */
import path from 'node:path';
import { train } from '../../server/runner/training/train.ts';
import { RunStore } from '../../src/node/runs/store.ts';
import { tinyConfig } from '../../test/unit/support/tiny-run.ts';

/**
 * Trains to the end. Its folder is in `scratch/runs`, where the engine has its checkpoints.
 * @param settings what differs from the tiny run of the tests
 * @param stored rollouts that it starts from instead of sampling them
 */
export async function trainedRun({ scratch, engine, log }, settings, stored = []) {
  const store = RunStore.create(
    path.join(scratch, 'runs'),
    tinyConfig(scratch, {
      weights: 'lora',
      rank: 8,
      tasksPerStep: 3,
      groupSize: 8,
      learningRate: 5e-4,
      concurrency: 24,
      replayShare: 0.02,
      kl: { act: 0, rehearse: 0 },
      evaluation: { every: settings.steps, attempts: 1, recorded: true },
      checkpoints: { every: 1, keep: settings.steps },
      ...settings,
    }),
  );
  if (stored.length) await store.appendRollouts(stored);
  let told = '';
  store.events.on('status', ({ step, phase }) => {
    const now = `${store.config.id}, step ${step}: ${phase}`;
    if (phase && now !== told) log(now);
    told = now;
  });
  await train({
    store,
    signal: new AbortController().signal,
    ports: {
      engine: async () => ({ baseUrl: engine.baseUrl }),
      executor: null,
      now: () => new Date().toISOString(),
      log,
    },
  });
  return store;
}

/** The run went to its end, and at each step sampler and learner had the same weights. */
export function checkRun(report, store, what) {
  const { status, config } = store;
  const rows = store.metrics().slice(1);
  const whole = status.state === 'done' && rows.length === config.settings.steps;
  report.check(what, whole, status.message || status.state);
  for (const { message } of status.warnings) report.say(`       ${message}`);
  for (const { step, rollouts, groups, groupsWithoutSignal, difference } of rows) {
    const signal = `${rollouts} rollouts, ${groups - groupsWithoutSignal} of ${groups} groups with signal`;
    if (difference === null) report.say(`       step ${step}: nothing to learn (${signal})`);
    else
      report.check(
        `step ${step}: sampler and learner, mean difference in nats`,
        difference.mean < 1e-3,
        `${difference.mean.toExponential(2)} (${signal})`,
      );
  }
  report.check(
    'there was something to learn',
    rows.some(({ difference }) => difference !== null),
  );
  report.say(`       mean reward by step: ${rows.map(({ reward }) => reward?.toFixed(3)).join(' ')}`);
  report.check('its checkpoints are evaluated on the test tasks', status.result !== null);
  return whole;
}
