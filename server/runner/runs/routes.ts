/** Routes of the training runs: `docs/server.md` lists them. All of them want the server's token. */

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject } from '../../../src/core/json';
import { connectPolicy } from '../../../src/node/policies/connect';
import { runErrors } from '../../../src/node/runs/errors';
import type { RunReader } from '../../../src/node/runs/reader';
import { answer, answerError, answerText, errorBody } from '../answers';
import { MOST_BYTES, readBody } from '../forward';
import type { Address } from '../training/run';
import { keysOf, newRunOf } from './config';
import { streamRun, streamRuns } from './events';
import { type ExportForm, exportCheckpoint } from './export';
import { probe } from './probe';
import type { Runs } from './runs';
import { nearestCheckpoint, sessionText } from './session';

export interface RunRoutes {
  runs: Runs;
  /** Our own engine, once it answers. */
  engine(signal: AbortSignal): Promise<Address>;
  log(text: string): void;
}

export function isRunRoute(url: string): boolean {
  return /^\/runs(?:[/?]|$)/.test(url);
}

export async function answerRuns(
  routes: RunRoutes,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await route(routes, request, response);
  } catch (error) {
    answerError(response, error, routes.log);
  }
}

interface Asked extends RunRoutes {
  request: IncomingMessage;
  response: ServerResponse;
  /** The run of the path, which there is. */
  run: RunReader;
  /** What the path has in place of `:names`. */
  path: { [name: string]: string };
  query: URLSearchParams;
  /** Aborted once the client has left. */
  gone: AbortSignal;
}

/** The answer (200, or as `Created` says), or nothing where it answered itself. */
type Handler = (asked: Asked) => unknown;

class Created {
  constructor(readonly body: object) {}
}

const ROUTES: { [route: string]: Handler } = {
  'GET /runs': ({ runs }) => ({ runs: runs.list() }),
  'POST /runs': async ({ runs, request }) => {
    const { config, keys } = await jsonOf(request);
    return new Created(await runs.launch(newRunOf(config), keysOf(keys)));
  },
  'GET /runs/events': ({ runs, response }) => streamRuns(runs, response),
  'POST /runs/probe': async ({ runs, engine, request, gone }) =>
    probe(newRunOf((await jsonOf(request)).config), { engine, busy: runs.active > 0 }, gone),

  'GET /runs/:run': ({ runs, run }) => runs.status(run.id),
  'DELETE /runs/:run': async ({ runs, run }) => {
    await runs.remove(run.id);
    return { removed: run.id };
  },
  'POST /runs/:run/stop': ({ runs, run }) => runs.stop(run.id),
  'POST /runs/:run/resume': async ({ runs, run, request }) =>
    runs.resume(run.id, keysOf((await jsonOf(request)).keys)),
  'POST /runs/:run/keys': async ({ runs, run, request }) =>
    runs.giveKeys(run.id, keysOf((await jsonOf(request)).keys)),
  'GET /runs/:run/config': ({ run }) => run.config,
  'GET /runs/:run/metrics': ({ run, query }) => ({ rows: run.metrics(number(query.get('from') ?? '0')) }),
  'GET /runs/:run/events': ({ runs, run, request, response }) => streamRun(runs, run.id, request, response),
  'GET /runs/:run/rollouts': async ({ run, query }) => {
    const step = query.get('step');
    if (step === null) return { steps: [...run.steps()].map(([step, rollouts]) => ({ step, rollouts })) };
    const records = await run.rolloutsOf(number(step));
    return { rollouts: records.map((record) => ({ ...record, records: [] })) };
  },
  'GET /runs/:run/rollouts.jsonl': ({ run, query, response, gone }) => {
    const step = query.get('step');
    const steps = step === null ? [...run.steps().keys()].sort((a, b) => a - b) : [number(step)];
    return sendRollouts(run, steps, response, gone);
  },
  'GET /runs/:run/rollouts/:step/:index/session': sendSession,
  'POST /runs/:run/checkpoints/:step/export': async ({ runs, run, path, engine, request, gone }) => {
    const { kind, folder } = await jsonOf(request);
    if ((kind !== 'peft' && kind !== 'merged') || typeof folder !== 'string')
      throw runErrors.request('kind is peft or merged, and folder a path');
    const place = { status: runs.status(run.id), config: run.config, step: number(path.step) };
    return exportCheckpoint(place, kind as ExportForm, folder, engine, gone);
  },
};

/** In the order of the table: a word goes before a name. */
const PATTERNS = Object.entries(ROUTES).map(([route, handler]) => {
  const [method, pattern] = route.split(' ') as [string, string];
  return { method, parts: pattern.split('/'), handler };
});

async function route(routes: RunRoutes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
  const given = pathname
    .replace(/(.)\/+$/, '$1')
    .split('/')
    .map(decoded);
  for (const { method, parts, handler } of PATTERNS) {
    const path = method === request.method ? matched(parts, given) : null;
    if (!path) continue;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const run = path.run === undefined ? (null as never) : routes.runs.reader(path.run);
    const found = await handler({ ...routes, request, response, run, path, query, gone: gone.signal });
    if (found instanceof Created) answer(response, 201, found.body);
    else if (found !== undefined) answer(response, 200, found as object);
    return;
  }
  answer(response, 404, errorBody('not_found', 'There is no such route.'));
}

/** The parts in place of names; null where it is another path. */
function matched(parts: readonly string[], given: readonly string[]): { [name: string]: string } | null {
  if (parts.length !== given.length) return null;
  const names: { [name: string]: string } = {};
  for (const [i, part] of parts.entries()) {
    if (part.startsWith(':')) names[part.slice(1)] = given[i]!;
    else if (part !== given[i]) return null;
  }
  return names;
}

/** Rollouts as JSON lines, no faster than they are read. */
async function sendRollouts(
  reader: RunReader,
  steps: readonly number[],
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/jsonl; charset=utf-8' });
  for (const step of steps) {
    for (const record of await reader.rolloutsOf(step))
      if (!response.write(`${JSON.stringify({ run: reader.id, ...record })}\n`))
        await once(response, 'drain', { signal });
  }
  response.end();
}

/** A rollout as a session file; the header names the checkpoint that goes on with it. */
async function sendSession({ runs, run, path, response, engine, gone }: Asked): Promise<void> {
  const [step, index] = [number(path.step), number(path.index)];
  const record = await run.rollout(step, index);
  if (!record)
    throw runErrors.state(run.id, `has no rollout ${index} in step ${step}`, 'Choose one that is listed.');
  const checkpoint = nearestCheckpoint(runs.status(run.id).checkpoints, record.step);
  const address = await engine(gone);
  const model = checkpoint?.model ?? run.config.settings.model;
  const { info } = await connectPolicy({ ...address, ...(model ? { model } : {}) }, gone);
  response.setHeader('x-rehearsal-checkpoint', String(checkpoint?.step ?? 0));
  answerText(response, 200, 'application/jsonl; charset=utf-8', sessionText(run.config, record, info));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '\0'; // no id, and no route
  }
}

function number(text: string | undefined): number {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text ?? '')) throw runErrors.request(`${JSON.stringify(text ?? '')} is no number`);
  return value;
}

async function jsonOf(request: IncomingMessage): Promise<{ [field: string]: unknown }> {
  const body = await readBody(request);
  if (body === null) throw runErrors.request(`a request may have ${MOST_BYTES >> 20} MiB at most`);
  if (!body.length) return {};
  try {
    const value = JSON.parse(body.toString('utf8'));
    if (isObject(value)) return value;
  } catch {
    // told below
  }
  throw runErrors.request('the request is no JSON object');
}
