/** The real tools of a run: only where a person has agreed to all of them, and only while they are what was agreed to. */
import type { RunConfig } from '../../../src/core/training/types';
import { errorText, UserError } from '../../../src/core/user-error';
import { createExecutor, type Executor } from '../../../src/node/tools';
import type { CheckRunner } from '../../../src/node/tools/checks';
import { allowGate, guarded } from '../../../src/node/tools/consent';

export interface RealTools {
  ports: { executor: Executor | null; checks?: CheckRunner };
  /** Why nothing real runs; null where it does. */
  why: string | null;
}

const CHANGED =
  'The real tools have changed since the run was allowed to use them, and are not asked any more.';

type Secret = (name: string) => Promise<string | undefined>;

/** @param changed told once, where the executor is no longer what was agreed to */
export async function realTools(
  config: RunConfig,
  secret: Secret,
  changed: (message: string) => void,
): Promise<RealTools> {
  const { environment, folder, allowed, executorHash } = config;
  const nothing = (why: string): RealTools => ({ ports: { executor: null }, why });
  if (!environment.executor) return nothing('the environment has no executor');
  if (!allowed.length) return nothing('nobody has allowed its tools');
  let executor: Executor | undefined;
  try {
    executor = createExecutor({ environment, folder, secret });
    if (!executor.isolated) throw new Error('sessions of this executor see each other');
    const identity = () => executor!.identity();
    const gate = allowGate(allowed);
    await gate({ identity: await identity(), tools: environment.tools });
    const own = guarded(executor, environment.tools, gate);
    let told = false;
    const open: Executor['open'] = async (state, signal) => {
      // What was agreed to at the start of the run; a program that was changed since is another one. No session is
      // opened, so that its rollouts are unscored: a refused call would look like a failure of the policy.
      if (executorHash && (await identity()).hash !== executorHash) {
        if (!told) changed(CHANGED);
        told = true;
        throw new UserError(CHANGED, 'Launch a new run to allow it as it is now.');
      }
      return own.open(state, signal);
    };
    return { ports: { executor: { ...own, open }, checks: { folder, gate } }, why: null };
  } catch (error) {
    await executor?.close();
    return nothing(errorText(error));
  }
}

/** What would run, to be agreed to; null where nothing would. */
export async function executorHashOf(
  config: Pick<RunConfig, 'environment' | 'folder' | 'allowed'>,
): Promise<string | undefined> {
  const { environment, folder, allowed } = config;
  if (!environment.executor || !allowed.length) return undefined;
  try {
    const executor = createExecutor({ environment, folder });
    try {
      return (await executor.identity()).hash;
    } finally {
      await executor.close();
    }
  } catch {
    return undefined; // told when the run starts
  }
}
