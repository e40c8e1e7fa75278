/**
 * What checks need of the real side: the state at the end, and what the programs of `command` checks say. A program
 * reads one JSON object {task, instruction, answer, calls, state} and writes one: {"holds": true, "reason": "…"}.
 */
import path from 'node:path';
import { isObject, type Json, type JsonObject } from '../../core/json';
import { parseStrict } from '../../core/json-text';
import type { State } from '../../core/rehearsal/types';
import { transcriptOf } from '../../core/reward/rollout';
import type { RealSide } from '../../core/reward/types';
import { runCall } from './calls';
import { commandLine } from './command';
import type { Gate } from './consent';
import { failures } from './failures';
import { sha256 } from './places';
import { Program } from './process';
import type { ToolSession } from './types';

export interface CheckRunner {
  /** Folder of the environment, in which programs run. */
  folder: string;
  /** Asked before a program runs; it rejects where the program may not. */
  gate: Gate;
}

const MAX_ANSWER = 2 ** 20;
const DEFAULT_SECONDS = 30;

/** Never rejects: what cannot be read or run leaves its check unscored. */
export async function realSide(state: State, session: ToolSession, runner?: CheckRunner): Promise<RealSide> {
  const { task } = state.setup;
  const needed = task.checks.some(({ kind }) => kind === 'state' || kind === 'command');
  const final = needed ? await session.state().catch(() => undefined) : undefined;
  const side: RealSide = { ...(final === undefined ? {} : { state: final }), commands: {} };
  for (const [index, check] of task.checks.entries()) {
    if (check.kind !== 'command' || !runner) continue;
    const input = inputOf(state, final);
    side.commands[index] = await runCheck(
      check.command,
      (check.timeoutSeconds ?? DEFAULT_SECONDS) * 1000,
      input,
      runner,
    );
  }
  return side;
}

function inputOf(state: State, final: Json | undefined): JsonObject {
  const { id, instruction } = state.setup.task;
  const { answer, calls } = transcriptOf(state);
  return {
    task: id,
    instruction,
    answer,
    calls: calls.map(({ tool, arguments: args, outcome, value }) => ({
      tool,
      arguments: args,
      outcome,
      value,
    })),
    state: final ?? null,
  };
}

type Said = RealSide['commands'][number];

async function runCheck(
  command: readonly string[],
  timeoutMs: number,
  input: JsonObject,
  { folder, gate }: CheckRunner,
): Promise<Said> {
  const what = commandLine(command);
  const cwd = path.resolve(folder);
  try {
    const identity = { kind: 'check', what, folder: cwd, hash: sha256('check', cwd, ...command) };
    await gate({ identity, tools: [{ name: what, readOnly: false }] });
  } catch (error) {
    const { message, next = '' } = error as { message: string; next?: string };
    return { verdict: 'unscored', reason: `${message} ${next}`.trim() };
  }
  let program: Program | undefined;
  const execution = await runCall(
    () =>
      new Promise((resolve, reject) => {
        const lines: string[] = [];
        program = new Program({
          argv: command,
          cwd,
          maxLine: MAX_ANSWER,
          onLine: (line) => {
            lines.push(line);
            const answer = answerIn(line);
            if (answer) resolve({ outcome: 'result', value: answer });
          },
          onEnd: (failure) =>
            reject(
              failure.code === 'crashed' && lines.length
                ? failures.notJson('no {"holds": true or false}')
                : failure,
            ),
        });
        program.send(JSON.stringify(input));
        program.endInput();
      }),
    { timeoutMs, stop: () => program?.kill() },
  );
  await program?.kill();
  if (execution.failure) return { verdict: 'unscored', reason: `${what}: ${execution.failure.message}` };
  const { holds, reason } = execution.value as { holds: boolean; reason?: unknown };
  const text =
    typeof reason === 'string' && reason ? reason.slice(0, 500) : `${what} says ${holds ? 'yes' : 'no'}.`;
  return { verdict: holds ? 'holds' : 'fails', reason: text };
}

function answerIn(line: string): JsonObject | null {
  const parsed = parseStrict(line);
  return parsed.ok && isObject(parsed.value) && typeof parsed.value.holds === 'boolean' ? parsed.value : null;
}
