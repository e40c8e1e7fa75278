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

async function route(
  { runs, engine }: RunRoutes,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const [, , id = '', ...rest] = pathname.split('/').map(decoded);
  const what = `${request.method} ${rest.join('/')}`;
  const gone = new AbortController();
  response.once('close', () => gone.abort());

  if (request.method === 'GET' && id === '') return answer(response, 200, { runs: runs.list() });
  if (what === 'POST ' && id === '') {
    const body = await jsonOf(request);
    return answer(response, 201, await runs.launch(newRunOf(body.config), keysOf(body.keys)));
  }
  if (what === 'GET ' && id === 'events') return streamRuns(runs, response);
  if (what === 'POST ' && id === 'probe') {
    const body = await jsonOf(request);
    const found = await probe(newRunOf(body.config), { engine, busy: runs.active > 0 }, gone.signal);
    return answer(response, 200, found);
  }

  const reader = runs.reader(id);
  const [first, second, third, fourth] = rest;
  switch (what) {
    case 'GET ':
      return answer(response, 200, runs.status(id));
    case 'DELETE ':
      await runs.remove(id);
      return answer(response, 200, { removed: id });
    case 'GET config':
      return answer(response, 200, reader.config);
    case 'GET metrics':
      return answer(response, 200, { rows: reader.metrics(number(searchParams.get('from') ?? '0')) });
    case 'GET events':
      return streamRun(runs, id, request, response);
    case 'GET rollouts': {
      const step = searchParams.get('step');
      if (step === null)
        return answer(response, 200, {
          steps: [...reader.steps()].map(([step, rollouts]) => ({ step, rollouts })),
        });
      const records = await reader.rolloutsOf(number(step));
      return answer(response, 200, { rollouts: records.map((record) => ({ ...record, records: [] })) });
    }
    case 'GET rollouts.jsonl': {
      const step = searchParams.get('step');
      const steps = step === null ? [...reader.steps().keys()].sort((a, b) => a - b) : [number(step)];
      return sendRollouts(reader, steps, response, gone.signal);
    }
    case 'POST stop':
      return answer(response, 200, await runs.stop(id));
    case 'POST resume':
      return answer(response, 200, await runs.resume(id, keysOf((await jsonOf(request)).keys)));
    case 'POST keys':
      return answer(response, 200, await runs.giveKeys(id, keysOf((await jsonOf(request)).keys)));
  }
  if (request.method === 'GET' && first === 'rollouts' && fourth === 'session' && rest.length === 4) {
    const place = { step: number(second), index: number(third) };
    return answerSession(runs, reader, place, response, engine, gone.signal);
  }
  if (request.method === 'POST' && first === 'checkpoints' && third === 'export' && rest.length === 3) {
    const { kind, folder } = await jsonOf(request);
    if ((kind !== 'peft' && kind !== 'merged') || typeof folder !== 'string')
      throw runErrors.request('kind is peft or merged, and folder a path');
    const status = runs.status(id);
    const place = { status, config: reader.config, step: number(second) };
    return answer(
      response,
      200,
      await exportCheckpoint(place, kind as ExportForm, folder, engine, gone.signal),
    );
  }
  answer(response, 404, errorBody('not_found', 'There is no such route.'));
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
async function answerSession(
  runs: Runs,
  reader: RunReader,
  { step, index }: { step: number; index: number },
  response: ServerResponse,
  engine: RunRoutes['engine'],
  signal: AbortSignal,
): Promise<void> {
  const record = await reader.rollout(step, index);
  if (!record)
    throw runErrors.state(reader.id, `has no rollout ${index} in step ${step}`, 'Choose one that is listed.');
  const checkpoint = nearestCheckpoint(runs.status(reader.id).checkpoints, record.step);
  const address = await engine(signal);
  const model = checkpoint?.model ?? reader.config.settings.model;
  const { info } = await connectPolicy({ ...address, ...(model ? { model } : {}) }, signal);
  response.setHeader('x-rehearsal-checkpoint', String(checkpoint?.step ?? 0));
  answerText(response, 200, 'application/jsonl; charset=utf-8', sessionText(reader.config, record, info));
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
