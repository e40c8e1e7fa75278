/** From a training file to a run: what is wrong is said first, then real tools and keys are asked for. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { RunStatus } from '../../core/training/run.types';
import { UserError } from '../../core/user-error';
import type { NewRun } from '../../node/runs/store';
import { notTrusted } from '../errors';
import type { Services } from '../services';
import type { LoadedFile, TrainingFiles } from './files';
import { keysFor } from './keys';
import type { Runs } from './runs';

export interface LaunchHost extends Pick<Services, 'context' | 'tools' | 'log'> {
  files: TrainingFiles;
  runs: Runs;
}

/** Undefined where the person turned away. Throws `UserError` where the file cannot be used. */
export async function launch(file: string, host: LaunchHost): Promise<RunStatus | undefined> {
  if (!vscode.workspace.isTrusted) throw notTrusted();
  const config = await withConsent(usable(await host.files.load(file)), host);
  if (!config) return undefined;
  const keys = await keysFor(config, host.context.secrets);
  const status = await host.runs.client.launch(config, keys);
  host.runs.note(status);
  host.log.info(`Run ${status.id} was launched from ${file}.`);
  return status;
}

/** Throws `UserError` with the first thing that is wrong. */
export function usable({ file, config, diagnostics }: LoadedFile): NewRun {
  if (config) return config;
  const first = diagnostics.find(({ severity }) => severity === 'error');
  throw new UserError(
    `${path.basename(file)} cannot be used: ${first?.message ?? 'it has errors.'}`,
    first?.next ?? 'Correct it; the Problems view shows the place.',
  );
}

/** Whether a run executes anything for real. */
function runsRealTools({ settings, environment, parts }: NewRun): boolean {
  const kind = environment.executor?.kind;
  // The tools of VS Code live in its window, and a run has none.
  if (!kind || kind === 'vscode') return false;
  const isEvaluated = (settings.evaluation.every > 0 && parts.validation.length > 0) || parts.test.length > 0;
  return settings.variant === 'real' || isEvaluated;
}

/** Asks once, with all tools listed. Whoever refuses may launch without them, where that makes sense. */
async function withConsent(config: NewRun, { tools }: LaunchHost): Promise<NewRun | undefined> {
  if (!runsRealTools(config)) return config;
  const { environment, environmentFile, settings } = config;
  const executor = tools.executorFor(environmentFile, environment, { batch: true });
  try {
    if (await executor.allow(environment.tools)) {
      const { hash } = await executor.identity();
      return { ...config, allowed: environment.tools.map(({ name }) => name), executorHash: hash };
    }
  } finally {
    await executor.close();
  }
  if (settings.variant === 'real') return undefined;
  const without = 'Launch Without Them';
  const answer = await vscode.window.showWarningMessage(
    'Launch without the real tools?',
    {
      modal: true,
      detail:
        'Success is then measured in rehearsal only: nobody sees whether the policy learns its world or a pleasant dream, and the best checkpoint is chosen by rehearsed success.',
    },
    without,
  );
  return answer === without ? { ...config, allowed: [] } : undefined;
}
