/** The real tools of a run: only where a person has agreed to all of them, and only while they are what was agreed to. */
import type { RunConfig } from '../../../src/core/training/types';
import { errorText } from '../../../src/core/user-error';
import { createExecutor, type Executor } from '../../../src/node/tools';
import type { CheckRunner } from '../../../src/node/tools/checks';
import { allowGate, type Gate, guarded } from '../../../src/node/tools/consent';

export interface RealTools {
  ports: { executor: Executor | null; checks?: CheckRunner };
  /** Why nothing real runs; null where it does. */
  why: string | null;
}

type Secret = (name: string) => Promise<string | undefined>;

export async function realTools(config: RunConfig, secret: Secret): Promise<RealTools> {
  const { environment, folder, allowed, executorHash } = config;
  const nothing = (why: string): RealTools => ({ ports: { executor: null }, why });
  if (!environment.executor) return nothing('the environment has no executor');
  if (!allowed.length) return nothing('nobody has allowed its tools');
  try {
    const executor = createExecutor({ environment, folder, secret });
    if (!executor.isolated) {
      await executor.close();
      return nothing('sessions of this executor see each other');
    }
    const gate: Gate = async (request, call) => {
      // What was agreed to at the start of the run; a program that was changed since is another one.
      if (executorHash && request.identity.kind === executor.kind && request.identity.hash !== executorHash)
        throw new Error('The executor has changed since the run was allowed to use it.');
      await allowGate(allowed)(request, call);
    };
    await gate({ identity: await executor.identity(), tools: environment.tools });
    return {
      ports: { executor: guarded(executor, environment.tools, gate), checks: { folder, gate } },
      why: null,
    };
  } catch (error) {
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
