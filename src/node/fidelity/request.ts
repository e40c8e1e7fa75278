/** What a person asked to compare, as it is kept with a comparison, and the calls that it means now. */
import type { Environment, Example } from '../../core/environment/types';
import { formatJson, isObject, type Json } from '../../core/json';
import type { PolicyInfo } from '../../core/policy';
import { UserError } from '../../core/user-error';
import { loadSession } from '../sessions/file';
import { sha256 } from '../tools/places';
import { type CompareTarget, stepsOf } from './compare';

export type CompareRequest =
  /** Recorded calls; `execute` asks the real tools again instead of taking the recorded answers. */
  | { kind: 'records'; part: 'held-out' | 'all'; execute: boolean }
  /** Tasks by id; null for all. */
  | { kind: 'tasks'; tasks: string[] | null }
  /** The calls of a saved session (path of its file), or one of them by its place among those with an answer. */
  | { kind: 'session'; session: string; call?: number };

export interface Asked {
  targets: CompareTarget[];
  /** Whether anything is executed. */
  executes: boolean;
  /** Names of the tools that may be called; null where only the rehearsal decides. */
  tools: string[] | null;
  /** Recorded calls in the order of `targets`. */
  examples: Example[];
  /** "2 held-out records" */
  what: string;
  /** The model whose rehearsal is compared, where that is no choice any more; it may not be offered any more. */
  policy?: PolicyInfo;
}

/** Throws `UserError` where there is nothing to compare. */
export function askedFor(environment: Environment, request: CompareRequest): Asked {
  switch (request.kind) {
    case 'records':
      return records(environment, request);
    case 'tasks':
      return tasks(environment, request.tasks);
    case 'session':
      return session(request);
  }
}

/** Calls whose answer can be had from the beginning of a session. */
export function comparableRecords(
  { examples }: Pick<Environment, 'examples'>,
  part: 'held-out' | 'all',
): Example[] {
  return examples.filter((one) => !one.afterWrite && (part === 'all' || one.part === 'held-out'));
}

function records(
  environment: Environment,
  { part, execute }: Extract<CompareRequest, { kind: 'records' }>,
): Asked {
  const examples = comparableRecords(environment, part);
  const held = part === 'held-out' ? 'held-out ' : '';
  if (examples.length === 0) {
    throw new UserError(
      `${environment.name} has no ${held}recorded calls that can be compared.`,
      'Compare its tasks, or record calls first.',
    );
  }
  return {
    targets: examples.map((example) => ({ kind: 'call', example })),
    executes: execute,
    tools: [...new Set(examples.map(({ tool }) => tool))],
    examples,
    what: `${count(examples.length, `${held}recorded call`)}${execute ? ', executed' : ''}`,
  };
}

function tasks(environment: Environment, ids: string[] | null): Asked {
  const found = ids
    ? ids.flatMap((id) => environment.tasks.find((task) => task.id === id) ?? [])
    : environment.tasks;
  const [first] = found;
  if (!first) {
    throw new UserError(
      ids
        ? `There is no task ${ids.join(', ')} in ${environment.name} any more.`
        : `${environment.name} has no tasks.`,
      'Choose something else to compare.',
    );
  }
  return {
    targets: found.map((task) => ({ kind: 'task', task })),
    executes: true,
    tools: null,
    examples: [],
    what: ids?.length === 1 ? `task ${first.id}` : count(found.length, 'task'),
  };
}

function session({ session: file, call }: Extract<CompareRequest, { kind: 'session' }>): Asked {
  const loaded = loadSession(file).session;
  const { setup } = loaded;
  const steps = stepsOf(loaded.tip.state);
  const compared = call === undefined ? steps : steps.slice(call, call + 1);
  if (compared.length === 0) {
    throw new UserError('This session has no call with an answer yet.', 'Step it until a tool has answered.');
  }
  const names = new Set(
    steps.slice(0, call === undefined ? undefined : call + 1).flatMap((step) => step.call?.name ?? []),
  );
  return {
    targets: [{ kind: 'steps', task: setup.task, steps, ...(call !== undefined && { only: call }) }],
    executes: true,
    tools: [...names],
    examples: [],
    what: call === undefined ? `session of ${setup.task.id}` : `a call of the session of ${setup.task.id}`,
    policy: setup.policy,
  };
}

/** What the figures of a comparison are about. Where these are others now, they are stale. */
export interface Basis {
  /** Policy and executor. */
  rest: string;
  tools: { [name: string]: ToolBasis };
}

interface ToolBasis {
  /** How it is described. */
  tool: string;
  /** Records of it that the model is shown. */
  records: string[];
  /** Those of them that have a verdict: a word about the comparison, and no change of what was compared. */
  judged: string[];
}

export function basisOf(environment: Environment): Basis {
  const { policy, executor = null, tools, examples } = environment;
  const shown = examples.filter(({ part, afterWrite }) => part === 'train' && !afterWrite);
  const records = shown.map(({ tool, arguments: args, value, verdict }) => ({
    tool,
    verdict,
    hash: hash([args, value]),
  }));
  return {
    rest: hash([policy, executor]),
    tools: Object.fromEntries(
      tools.map(({ name, description, parameters }) => {
        const own = records.filter(({ tool }) => tool === name);
        return [
          name,
          {
            tool: hash([description, parameters]),
            records: own.map((record) => record.hash),
            judged: own.flatMap((record) => (record.verdict ? record.hash : [])),
          },
        ];
      }),
    ),
  };
}

/** Tools whose figures are stale: all of them where policy or executor have changed. */
export function staleTools(then: Basis, now: Basis, tools: readonly string[]): string[] {
  if (then.rest !== now.rest) return [...tools];
  // Tools that a server brings are not in the file: nothing is known of them until it is asked again.
  if (Object.keys(now.tools).length === 0) return [];
  return tools.filter((tool) => isChanged(then.tools[tool], now.tools[tool]));
}

function isChanged(then: ToolBasis | undefined, now: ToolBasis | undefined): boolean {
  if (!then || !now || then.tool !== now.tool) return true;
  const [before, after, judged] = [new Set(then.records), new Set(now.records), new Set(now.judged)];
  const isGone = then.records.some((record) => !after.has(record));
  return isGone || now.records.some((record) => !before.has(record) && !judged.has(record));
}

/** Whether what was read from a file is a request. */
export function isRequest(value: unknown): value is CompareRequest {
  if (!isObject(value)) return false;
  const { kind, part, execute, tasks: ids, session: file, call } = value;
  if (kind === 'records') return (part === 'held-out' || part === 'all') && typeof execute === 'boolean';
  if (kind === 'tasks')
    return ids === null || (Array.isArray(ids) && ids.every((id) => typeof id === 'string'));
  return kind === 'session' && typeof file === 'string' && (call === undefined || Number.isInteger(call));
}

/** Whether what was read from a file is what a comparison was about. */
export function isBasis(value: unknown): value is Basis {
  if (!isObject(value) || !isObject(value.tools)) return false;
  return Object.values(value.tools).every(
    (tool) => isObject(tool) && Array.isArray(tool.records) && Array.isArray(tool.judged),
  );
}

function hash(value: Json): string {
  return sha256(formatJson(value)).slice(0, 16);
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}
