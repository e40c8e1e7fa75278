/** How training goes, for people who look elsewhere: the status bar while it runs, a notification when it matters. */
import * as vscode from 'vscode';
import { printable } from '../../core/text';
import type { RunStatus } from '../../core/training/run.types';
import { Command } from '../ids';
import type { RunChange, Runs } from './runs';
import { ACTIVE, durationOf, endText, statusText } from './texts';

const ENDED: Partial<Record<RunStatus['state'], string>> = {
  done: 'is done',
  failed: 'has failed',
  stopped: 'was stopped',
  'needs key': 'waits for a key',
};

export interface ProgressHost {
  runs: Runs;
  open(run: RunStatus): void;
  stop(id: string): Promise<void>;
  keepBest(id: string): Promise<void>;
  showError(error: unknown): void;
}

export function followProgress(host: ProgressHost): vscode.Disposable {
  const { runs } = host;
  const item = vscode.window.createStatusBarItem('rehearsal.training', vscode.StatusBarAlignment.Left, -1);
  item.name = 'Rehearsal Training';
  const draw = () => {
    const active = runs.all.filter(({ state }) => ACTIVE.has(state));
    const run = active.find(({ state }) => state !== 'queued') ?? active[0];
    if (!run) return item.hide();
    item.text = statusText(run, active.length - 1);
    item.tooltip = `${printable(run.name)}: ${run.phase || run.state}${run.secondsLeft === null ? '' : `, ${durationOf(run.secondsLeft)}`}`;
    item.command = { command: Command.openRun, title: 'Open', arguments: [{ kind: 'run', id: run.id }] };
    item.backgroundColor =
      run.warnings.length > 0 ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    item.show();
  };
  draw();
  return vscode.Disposable.from(
    item,
    runs.onDidChange((change) => {
      draw();
      if (change) void tell(change, host).catch(host.showError);
    }),
  );
}

/** What is news: an end that this window saw coming, and warnings, each once. */
async function tell({ status, before }: RunChange, host: ProgressHost): Promise<void> {
  if (!before) return;
  const { id, name, state, bestStep, warnings } = status;
  // Each kind once in a run: those that come again are in its page.
  const fresh = warnings.filter(({ code }) => !before.warnings.some((one) => one.code === code));
  const warning = fresh.find(({ code }) => code === 'pleasing') ?? fresh[0];
  if (warning) {
    const actions = [
      'Open Run',
      ...(ACTIVE.has(state) ? ['Stop'] : []),
      ...(warning.code === 'pleasing' && bestStep !== null ? ['Keep Best'] : []),
    ];
    const text = `${printable(name)}, step ${warning.step}: ${printable(warning.message).replaceAll('`', '')}`;
    void vscode.window.showWarningMessage(text, ...actions).then(async (pressed) => {
      if (pressed === 'Open Run') host.open(status);
      if (pressed === 'Stop') await host.stop(id).catch(host.showError);
      if (pressed === 'Keep Best') await host.keepBest(id).catch(host.showError);
    });
  }
  const ended = ENDED[state];
  if (!ended || before.state === state) return;
  const show = state === 'failed' ? vscode.window.showErrorMessage : vscode.window.showInformationMessage;
  const pressed = await show(`The run ${printable(name)} ${ended}. ${endText(status)}`, 'Open Run');
  if (pressed === 'Open Run') host.open(status);
}
