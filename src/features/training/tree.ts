/** The *Training* view: runs with where they stand, and below each its checkpoints, the best one marked. */
import * as vscode from 'vscode';
import { printable } from '../../core/text';
import type { Checkpoint, RunStatus } from '../../core/training/run.types';
import { Command } from '../ids';
import type { Runs } from './runs';
import { ACTIVE, describeRun } from './texts';

export type TrainingNode = { kind: 'run'; id: string } | { kind: 'checkpoint'; id: string; step: number };

export class TrainingTree implements vscode.TreeDataProvider<TrainingNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<TrainingNode | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly listener: vscode.Disposable;

  constructor(private readonly runs: Runs) {
    this.listener = runs.onDidChange((change) => {
      const isKnown = change?.before && change.before.state === change.status.state;
      this.changed.fire(isKnown ? this.nodeOf(change.status) : undefined);
    });
  }

  private readonly nodes = new Map<string, TrainingNode>();

  /** The same object for the same run, so that only its row is drawn again. */
  private nodeOf({ id }: RunStatus): TrainingNode {
    const known = this.nodes.get(id);
    if (known) return known;
    const node: TrainingNode = { kind: 'run', id };
    this.nodes.set(id, node);
    return node;
  }

  getChildren(node?: TrainingNode): TrainingNode[] {
    if (!node) return this.runs.all.map((run) => this.nodeOf(run));
    if (node.kind !== 'run') return [];
    const checkpoints = this.runs.get(node.id)?.checkpoints ?? [];
    return [...checkpoints]
      .sort((a, b) => b.step - a.step)
      .filter(({ kept, best }) => kept || best)
      .map(({ step }) => ({ kind: 'checkpoint', id: node.id, step }));
  }

  getTreeItem(node: TrainingNode): vscode.TreeItem {
    const run = this.runs.get(node.id);
    if (!run) return new vscode.TreeItem(node.id);
    if (node.kind === 'run') return runItem(run);
    const checkpoint = run.checkpoints.find(({ step }) => step === node.step);
    return checkpoint ? checkpointItem(run, checkpoint) : new vscode.TreeItem(`step ${node.step}`);
  }

  dispose(): void {
    this.listener.dispose();
    this.changed.dispose();
  }
}

const ICONS: Record<RunStatus['state'], [string, string?]> = {
  queued: ['clock'],
  starting: ['loading~spin'],
  running: ['sync~spin'],
  stopping: ['sync~spin'],
  stopped: ['debug-stop'],
  done: ['pass', 'testing.iconPassed'],
  failed: ['error', 'testing.iconFailed'],
  'needs key': ['key', 'problemsWarningIcon.foreground'],
};

function runItem(run: RunStatus): vscode.TreeItem {
  const { name, id, state, checkpoints, warnings } = run;
  const item = new vscode.TreeItem(
    printable(name),
    checkpoints.length > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
  );
  item.id = id;
  item.description = describeRun(run);
  const [icon, colour] =
    warnings.length > 0 && ACTIVE.has(state) ? ['warning', 'problemsWarningIcon.foreground'] : ICONS[state];
  item.iconPath = new vscode.ThemeIcon(icon, colour ? new vscode.ThemeColor(colour) : undefined);
  item.contextValue = `run-${ACTIVE.has(state) ? 'active' : state === 'done' ? 'done' : 'resting'}`;
  item.tooltip = tooltipOf(run);
  item.command = { command: Command.openRun, title: 'Open', arguments: [{ kind: 'run', id }] };
  item.accessibilityInformation = {
    label: `${printable(name)}, ${item.description}${warnings.length ? ', with warnings' : ''}`,
  };
  return item;
}

function tooltipOf({
  name,
  id,
  model,
  variant,
  environment,
  message,
  created,
  parent,
  warnings,
}: RunStatus): string {
  return [
    `${printable(name)} (${id})`,
    `${variant} on ${printable(environment)}, from ${printable(model)}`,
    `Begun: ${new Date(created).toLocaleString()}`,
    ...(parent ? [`Branched from step ${parent.step} of ${parent.run}`] : []),
    ...(message ? [printable(message)] : []),
    ...warnings.map((warning) => `Step ${warning.step}: ${printable(warning.message)}`),
  ].join('\n');
}

function checkpointItem(
  { id }: RunStatus,
  { step, model, best, success, kept }: Checkpoint,
): vscode.TreeItem {
  const item = new vscode.TreeItem(`step ${step}`);
  item.id = `${id}/${step}`;
  const worth = success
    ? `${success.value.toFixed(2)} (${success.low.toFixed(2)}–${success.high.toFixed(2)})`
    : 'not evaluated';
  item.description = best ? `${worth} · best` : worth;
  item.iconPath = new vscode.ThemeIcon(
    best ? 'star-full' : 'circle-small',
    best ? new vscode.ThemeColor('rehearsal.real') : undefined,
  );
  item.contextValue = kept ? 'checkpoint' : 'checkpoint-gone';
  item.tooltip = success ? `${model}\nSuccess on validation tasks, 95 % interval, n = ${success.n}` : model;
  item.command = { command: Command.openRun, title: 'Open', arguments: [{ kind: 'run', id }] };
  return item;
}
