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
      for (const task of group) show(run, task, found.get(task.task.id)!);
    });
  }
}

/** Fails where a rehearsal differs; a call that could not be compared says nothing about the policy. */
function show(run: vscode.TestRun, task: TaskItem, { pairs, uncompared }: Found): void {
  const { item, loaded } = task;
  const rehearsed = pairs.filter(({ source }) => source === 'rehearsed');
  const differing = rehearsed.filter((pair) => verdictOf(pair) === 'differs');
  const said = `${rehearsed.length - differing.length} of ${rehearsed.length} rehearsals match the real tools`;
  run.appendOutput(`${printable(task.task.id).replaceAll('\n', ' ')}: ${said}\r\n`, undefined, item);
  const differences = differing.map((pair) => messageOf(task, pair));
  const others = uncompared.map((reason) => {
    const message = new vscode.TestMessage(`Not compared: ${printable(reason)}`);
    message.location = loaded.task(task.task.id);
    return message;
  });
  if (differences.length > 0) run.failed(item, [...differences, ...others]);
  else if (others.length > 0) run.errored(item, others);
  else run.passed(item);
}

function messageOf({ loaded }: TaskItem, pair: ComparedCall): vscode.TestMessage {
  const { tool, comparison, arguments: args } = pair;
  const first = comparison.first;
  const what = first ? `${first.path} ${first.kind}` : 'the answers differ';
  const text = `${printable(tool)}(${printable(formatJson(args)).slice(0, 200)}): ${printable(what)}`;
  const side = (value: Json) => JSON.stringify(value, null, 2).slice(0, MAX_SHOWN);
  const expected = side(canonicalValue(pair.real));
  const message = vscode.TestMessage.diff(text, expected, side(canonicalValue(pair.rehearsed)));
  message.location = loaded.tool(tool);
  return message;
}
