/** Compares a model on what was asked for, into a live comparison. Knows no VS Code. */
import path from 'node:path';
import type { Environment } from '../../core/environment/types';
import type { Policy, Sampling } from '../../core/policy';
import { type CompareTarget, compareTargets } from '../../node/fidelity/compare';
import { conversationsFolder, forgetConversations } from '../../node/fidelity/conversations';
import type { ComparisonWriter } from '../../node/fidelity/file';
import { createSession } from '../../node/sessions/file';
import type { Executor } from '../../node/tools';
import type { LiveComparison } from './live';

/** Targets at the same time, as on the command line. */
const CONCURRENCY = 8;

export interface ModelRun {
  environment: Environment;
  targets: readonly CompareTarget[];
  policy: Policy;
  /** Null compares with the answers that the targets bring. */
  executor: Executor | null;
  sampling: Sampling & { seed: number; alternatives: number };
}

/** Never rejects: what went wrong is the comparison's to show, and what was compared until then stays. */
export async function compareModel(
  live: LiveComparison,
  writer: ComparisonWriter,
  { environment, targets, policy, executor, sampling }: ModelRun,
): Promise<void> {
  const { model } = policy.info;
  try {
    const { signal, pair, uncompared, conversation } = live.begin(model, writer);
    let [done, calls] = [0, 0];
    const isWhole = targets.some(({ kind }) => kind !== 'call');
    const tell = () => {
      const counted = isWhole
        ? `${calls} ${calls === 1 ? 'call' : 'calls'}`
        : `${done} of ${targets.length} calls`;
      live.moved(`${counted}, ${model}`, isWhole && targets.length === 1 ? null : done / targets.length);
    };
    tell();
    forgetConversations(live.file);
    await compareTargets(targets, {
      environment,
      policy,
      executor,
      // What the model holds most likely is what it knows: no luck in it.
      sampling: { ...sampling, temperature: 0, alternatives: 0 },
      concurrency: CONCURRENCY,
      surprise: true,
      signal,
      // Another model is asked for the same calls in the same conversation.
      session: (setup) => {
        const folder = conversationsFolder(live.file);
        const kept = createSession(folder, setup, { rollout: true });
        conversation(setup.task.id, path.basename(kept.path));
        return kept;
      },
      onPair: (found) => {
        pair(found);
        calls++;
        tell();
      },
      onUncompared: uncompared,
      onTarget: () => {
        done++;
        tell();
      },
    });
    if (!signal.aborted) writer.done(model);
    live.end(signal.aborted ? 'cancelled' : 'done');
  } catch (error) {
    live.end('cancelled', error);
  }
}
