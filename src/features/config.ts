/** The one reader of settings: typed getters over what package.json contributes, read anew at each access. */
import * as vscode from 'vscode';
import type { Sampling } from '../core/policy';
import { DEFAULT_OPTIONS } from '../core/rehearsal/options';
import { Setting } from './ids';
import type { Settings } from './services';

/** When a task of k attempts passes: every attempt, one at least, or a share of them. */
export type PassRule = 'all' | 'any' | 'share';

export class Config implements Settings {
  /** Address of a server to use instead of the local one, without a slash at the end; null for the local one. */
  get serverAddress(): string | null {
    return read<string>(Setting.serverAddress, '').trim().replace(/\/+$/, '') || null;
  }

  /** Python that the set-up makes the server's virtual environment with; null to look for one. */
  get serverPython(): string | null {
    return read<string>(Setting.serverPython, '').trim() || null;
  }

  /** Directory of the local server and its environment; null for the documented default. */
  get serverHome(): string | null {
    return read<string>(Setting.serverHome, '').trim() || null;
  }

  /** Model of new sessions; undefined for the one the server offers first. */
  model(): string | undefined {
    return read<string>(Setting.model, '').trim() || undefined;
  }

  async setModel(model: string): Promise<void> {
    await vscode.workspace.getConfiguration().update(Setting.model, model, vscode.ConfigurationTarget.Global);
  }

  /** What no setting names is as in the command line: the same seed gives the same tokens there. */
  sampling(): Sampling & { seed: number; alternatives: number } {
    const { temperature, topP, topK, minP, seed, alternatives } = DEFAULT_OPTIONS;
    return {
      temperature: within(read<number>(Setting.temperature, temperature), 0, 2, temperature),
      topP,
      topK,
      minP,
      seed: whole(read<number>(Setting.seed, seed), 0, 2 ** 31 - 1, seed),
      alternatives: whole(read<number>(Setting.alternatives, alternatives), 0, 20, alternatives),
    };
  }

  /** Whether what servers say of their tools counts for which of them only read. Workspaces have no say in this. */
  get trustsAnnotations(): boolean {
    return read<boolean>(Setting.trustAnnotations, false);
  }

  /** Model that decides `judge` checks, and its address; null where none is set. */
  get judge(): { address: string; model: string } | null {
    const address = read<string>(Setting.judgeAddress, '').trim().replace(/\/+$/, '');
    const model = read<string>(Setting.judgeModel, '').trim();
    return address && model ? { address, model } : null;
  }

  get testAttempts(): number {
    return whole(read<number>(Setting.testAttempts, 1), 1, 64, 1);
  }

  async setTestAttempts(attempts: number): Promise<void> {
    const target = vscode.workspace.workspaceFolders
      ? vscode.ConfigurationTarget.Workspace
      : vscode.ConfigurationTarget.Global;
    await vscode.workspace.getConfiguration().update(Setting.testAttempts, attempts, target);
  }

  /** Rollouts that run at the same time. */
  get testConcurrency(): number {
    return whole(read<number>(Setting.testConcurrency, 4), 1, 64, 4);
  }

  get testPasses(): PassRule {
    const rule = read<string>(Setting.testPasses, 'all');
    return rule === 'any' || rule === 'share' ? rule : 'all';
  }

  /** Share of attempts (0 to 1) that must pass where `testPasses` is `share`. */
  get testShare(): number {
    return within(read<number>(Setting.testShare, 0.5), 0, 1, 0.5);
  }

  /** Calls `listener` when one of these settings changes. */
  onDidChange(names: readonly string[], listener: () => void): vscode.Disposable {
    return vscode.workspace.onDidChangeConfiguration((event) => {
      if (names.some((name) => event.affectsConfiguration(name))) listener();
    });
  }
}

/** Settings files are edited by hand: a value of the wrong type counts as absent. */
function read<T extends string | number | boolean>(name: string, otherwise: T): T {
  const value = vscode.workspace.getConfiguration().get<unknown>(name);
  return typeof value === typeof otherwise ? (value as T) : otherwise;
}

function within(value: number, low: number, high: number, otherwise: number): number {
  return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : otherwise;
}

function whole(value: number, low: number, high: number, otherwise: number): number {
  return Math.trunc(within(value, low, high, otherwise));
}
