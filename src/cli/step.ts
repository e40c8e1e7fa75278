/** `rehearsal step`: one task, token by token, in the terminal. */

import path from 'node:path';
import { createRenderer } from '../core/conversation/render';
import type { Environment, Task } from '../core/environment/types';
import { drive, GESTURES, type Gesture, type Ports } from '../core/rehearsal/drivers';
import { DEFAULT_OPTIONS } from '../core/rehearsal/options';
import type { SessionRecord } from '../core/rehearsal/session';
import type { Setup } from '../core/rehearsal/types';
import { usableEnvironment } from '../node/environments';
import { errors, NodeError, oneLine } from '../node/errors';
import { createSession, loadSession, openSession, type StoredSession } from '../node/sessions/file';
import { executePort } from '../node/tools';
import { withServerTools } from '../node/tools/server-tools';
import { MODEL_OPTIONS, oneFile, parse, samplingOf, UsageError, wholeNumber } from './arguments';
import { connect } from './connect';
import { eventsOf, type StepEvent } from './events';
import { observedExecutor } from './executor';
import { interact } from './interactive';
import { sessionsOf } from './places';
import { EXIT, type Terminal } from './terminal';
import { printStart, TranscriptPrinter } from './transcript';

/** What servers give at most. */
const MOST_ALTERNATIVES = 20;

const OPTIONS = {
  ...MODEL_OPTIONS,
  task: { type: 'string' },
  gesture: { type: 'string' },
  alternatives: { type: 'string' },
  session: { type: 'string' },
  observations: { type: 'string' },
  allow: { type: 'string', multiple: true },
} as const;

export async function step(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, OPTIONS);
  const gesture = gestureOf(values.gesture);
  const { page, signal } = terminal;
  const interactive = terminal.interactive && !values.json;
  const printer = new TranscriptPrinter(page, interactive);
  const emit = values.json ? terminal.json : (event: StepEvent) => printer.show(event);

  let stored: StoredSession | null = null;
  let cursor = 0;
  /** Shows what came next, whether it was sampled now or is replayed; a jump elsewhere shows nothing. */
  const follow = (record: SessionRecord) => {
    const { session } = stored!;
    const node = session.cursor;
    if (record.t === 'reply' || node.parent === cursor)
      for (const event of eventsOf(session, node)) emit(event);
    cursor = node.id;
  };
  const opened = values.session
    ? await resume(values.session, values, terminal, follow)
    : await begin(oneFile(positionals), values, terminal, follow);
  stored = opened.stored;
  const { session } = stored;
  cursor = session.cursor.id;
  if (values.json) terminal.json(startOf(stored));
  else printStart(session.setup, page);
  if (stored.notice) terminal.say(stored.notice);
  const { policy } = opened;
  const { real } = opened;
  const ports: Ports = {
    policy,
    render: createRenderer(policy),
    ...(real ? { execute: executePort(real.session) } : {}),
  };
  try {
    if (interactive) await interact({ session, ports, printer, terminal, first: gesture });
    else await drive(session, ports, GESTURES[gesture ?? 'continue'], signal);
  } finally {
    await real?.executor.close();
    stored.close();
    if (!values.json) page.print(`\n${page.style.dim(`saved: ${path.relative('', stored.path)}`)}`);
  }
  return signal.aborted ? EXIT.interrupted : EXIT.ok;
}

function startOf({ id, path: file, session }: StoredSession): object {
  const { environment, task, policy, options } = session.setup;
  return {
    type: 'session',
    id,
    path: file,
    environment: environment.name,
    task: task.id,
    instruction: task.instruction,
    model: policy.model,
    tier: policy.tier,
    seed: options.seed,
    temperature: options.temperature,
  };
}

function gestureOf(text: string | undefined): Gesture | undefined {
  if (text === undefined || Object.hasOwn(GESTURES, text)) return text as Gesture | undefined;
  throw new UsageError(`--gesture is one of ${Object.keys(GESTURES).join(', ')}, not ${text}.`);
}

type Values = ReturnType<typeof parse<typeof OPTIONS>>['values'];

async function begin(
  file: string,
  values: Values,
  terminal: Terminal,
  onRecord: (record: SessionRecord) => void,
) {
  const written = await usableEnvironment(file);
  const task = taskOf(written, values.task);
  const options = {
    ...DEFAULT_OPTIONS,
    ...samplingOf(values, DEFAULT_OPTIONS),
    alternatives: wholeNumber(
      'alternatives',
      values.alternatives,
      0,
      DEFAULT_OPTIONS.alternatives,
      MOST_ALTERNATIVES,
    ),
  };
  const environmentFile = path.resolve(file);
  const executor = await observedExecutor(
    { environment: written, folder: path.dirname(environmentFile) },
    values,
  );
  try {
    const environment = await withServerTools(written, executor, terminal.signal);
    const real = executor ? { executor, session: await executor.open(task.state) } : null;
    if (real) options.observations = 'real';
    const policy = await connect(values, terminal.say, terminal.signal);
    const setup: Setup = { environment, task, options, policy: policy.info };
    const stored = createSession(sessionsOf(file, values.sessions), setup, { environmentFile, onRecord });
    return { stored, policy, real };
  } catch (error) {
    // Its programs would stay.
    await executor?.close();
    throw error;
  }
}

async function resume(
  file: string,
  values: Values,
  terminal: Terminal,
  onRecord: (record: SessionRecord) => void,
) {
  const { model } = loadSession(file).session.setup.policy;
  const wanted = { ...values, model: values.model ?? model };
  const policy = await connect(wanted, terminal.say, terminal.signal).catch((error) => {
    const isGone = error instanceof NodeError && error.code === 'model-unknown' && values.model === undefined;
    throw isGone ? modelOfSession(model, error) : error;
  });
  return { stored: openSession(file, { onRecord }), policy, real: null };
}

function modelOfSession(model: string, { next, action }: NodeError): NodeError {
  return new NodeError(
    'model-unknown',
    `The session was made with the model ${oneLine(model, 100)}, which the server does not offer.`,
    `To go on with another, name it with --model. ${next}`,
    action,
  );
}

/** The task named, or the first. */
export function taskOf(environment: Environment, id: string | undefined): Task {
  const known = environment.tasks.map((task) => task.id);
  const task =
    id === undefined ? environment.tasks[0] : environment.tasks.find((candidate) => candidate.id === id);
  if (!task) throw errors.noTask(id ?? '', known);
  return task;
}
