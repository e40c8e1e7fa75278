/** Compares tasks with their real tools: rehearses each, executes its calls, and reports where both differ. */
import * as vscode from 'vscode';
import { canonicalValue } from '../../core/fidelity/answers';
import type { ComparedCall } from '../../core/fidelity/comparison';
import { verdictOf } from '../../core/fidelity/summary';
import { formatJson, type Json } from '../../core/json';
import { printable } from '../../core/text';
import { compareTargets } from '../../node/fidelity/compare';
import type { TaskItem } from './items';
import { byFile, type RealContext, withRealTools } from './real';
import type { ComparedTask } from './results';

const MAX_SHOWN = 100_000;

/** What came of a task's calls. */
interface Found {
  pairs: ComparedCall[];
  /** Why a call, or the task, could not be compared. */
  uncompared: string[];
}

export async function compareTasks(
  run: vscode.TestRun,
  tasks: TaskItem[],
  context: RealContext,
): Promise<void> {
  const { config, server } = context;
  for (const group of byFile(tasks)) {
    await withRealTools(run, group, context, async (environment, executor, signal) => {
      const policy = await server.connect(config.model(), signal);
      const found = new Map<string, Found>(group.map(({ task }) => [task.id, { pairs: [], uncompared: [] }]));
      for (const { item } of group) run.started(item);
      await compareTargets(
        group.map(({ task }) => ({ kind: 'task', task })),
        {
          environment,
          policy,
          executor,
          sampling: { ...config.sampling(), temperature: 0, alternatives: 0 },
          concurrency: config.testConcurrency,
          signal,
          onPair: (pair) => found.get(pair.task ?? '')?.pairs.push(pair),
          onUncompared: ({ task, tool, reason }) =>
            found.get(task ?? '')?.uncompared.push(tool ? `${tool}: ${reason}` : reason),
        },
      );
      if (signal.aborted) return;
      for (const task of group) {
        const { pairs, uncompared } = found.get(task.task.id)!;
        const rehearsed = pairs.filter(({ source }) => source === 'rehearsed');
        const differing = rehearsed.filter((pair) => verdictOf(pair) === 'differs');
        const said = `${rehearsed.length - differing.length} of ${rehearsed.length} rehearsals match the real tools`;
        run.appendOutput(
          `${printable(task.task.id).replaceAll('\n', ' ')}: ${said}\r\n`,
          undefined,
          task.item,
        );
        const compared = { differences: differing.map(differenceOf), uncompared };
        showCompared(run, task, compared);
        await context.results.setReal(task.loaded.file, task.task.id, { compared });
      }
    });
  }
}

/** Fails where a rehearsal differs; a call that could not be compared says nothing about the policy. */
export function showCompared(
  run: vscode.TestRun,
  { item, loaded, task }: TaskItem,
  { differences, uncompared }: ComparedTask,
): void {
  const failed = differences.map(({ tool, text, expected, actual }) => {
    const message =
      expected !== undefined && actual !== undefined
        ? vscode.TestMessage.diff(text, expected, actual)
        : new vscode.TestMessage(text);
    message.location = loaded.tool(tool);
    return message;
  });
  const others = uncompared.map((reason) => {
    const message = new vscode.TestMessage(`Not compared: ${printable(reason)}`);
    message.location = loaded.task(task.id);
    return message;
  });
  if (failed.length > 0) run.failed(item, [...failed, ...others]);
  else if (others.length > 0) run.errored(item, others);
  else run.passed(item);
}

function differenceOf(pair: ComparedCall): ComparedTask['differences'][number] {
  const { tool, comparison, arguments: args } = pair;
  const first = comparison.first;
  const what = first ? `${first.path} ${first.kind}` : 'the answers differ';
  const text = `${printable(tool)}(${printable(formatJson(args)).slice(0, 200)}): ${printable(what)}`;
  const side = (value: Json) => JSON.stringify(value, null, 2).slice(0, MAX_SHOWN);
  const [expected, actual] = [side(canonicalValue(pair.real)), side(canonicalValue(pair.rehearsed))];
  return { tool, text, expected, actual };
}
