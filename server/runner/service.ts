/** The routes: `/health`, `/stop` and `/runs` are ours, everything of the model goes through to the engine. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Health, PROTOCOL } from '../../src/node/server/discovery';
import { answer, errorBody } from './answers';
import type { Engine } from './engine';
import { forward, isForwarded, MOST_BYTES, readBody } from './forward';
import { refusalOf } from './guard';
import { answerRuns, isRunRoute, type RunRoutes } from './runs/routes';

export interface ServiceOptions {
  engine: Engine;
  token: string;
  engineToken: string;
  version: string;
  build: string;
  /** Names of the models, the default first. */
  models: readonly string[];
  training: RunRoutes;
  /** Called once an accepted `POST /stop` was answered. */
  onStop(): void;
}

export interface Service {
  port: number;
  close(): void;
}

/** Listens on loopback, on `wanted` where that port is free and else on one that is. */
export async function startService(options: ServiceOptions, wanted: number): Promise<Service> {
  let active = 0;
  let port = 0;
  const server = http.createServer((request, response) => {
    const refused = refusalOf(request, port, options.token);
    if (refused) return answer(response, refused.status, errorBody(refused.type, refused.message));
    void handle(request, response).catch(() => response.destroy());
  });
  // A person may look at a token for an hour; the window's connection may stay.
  server.keepAliveTimeout = 65_000;
  server.requestTimeout = 60_000;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '/';
    if (request.method === 'GET' && url === '/health') return answer(response, 200, health());
    if (request.method === 'POST' && url === '/stop') {
      answer(response, 200, { stopping: true });
      response.once('close', options.onStop);
      return;
    }
    if (isRunRoute(url)) return answerRuns(options.training, request, response);
    if (!isForwarded(url)) return answer(response, 404, errorBody('not_found', 'There is no such route.'));
    const body = await readBody(request);
    if (body === null) {
      // What is still on its way is not read: the connection ends with the answer.
      response.setHeader('connection', 'close');
      return answer(
        response,
        413,
        errorBody('too_large', `A request may have ${MOST_BYTES >> 20} MiB at most.`),
      );
    }
    if (response.destroyed) return; // the client left meanwhile: nobody would stop the engine
    const { engine } = options;
    if (engine.port === null) return unavailable(response, engine);
    active++;
    response.once('close', () => active--);
    forward(request, body, response, { port: engine.port, token: options.engineToken }, () =>
      unavailable(response, engine),
    );
  }

  function health(): Health {
    const { engine, version, build } = options;
    return {
      protocol: PROTOCOL,
      version,
      build,
      pid: process.pid,
      engine: { state: engine.state, message: engine.message, restarts: engine.restarts },
      models: engine.port === null ? [] : [...options.models],
      // A server at work is not replaced by a newer one: neither while it answers, nor while it trains.
      active: active + options.training.runs.active,
      training: options.training.runs.health,
    };
  }

  port = await listen(server, wanted);
  return {
    port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function unavailable(response: ServerResponse, engine: Engine): void {
  if (response.headersSent) return void response.destroy();
  const why = engine.message || 'the engine does not answer';
  const text =
    engine.state === 'failed' ? `The engine does not start: ${why}` : `The engine is being started: ${why}`;
  response.setHeader('retry-after', engine.state === 'failed' ? '30' : '1');
  answer(response, 503, errorBody('engine_unavailable', text));
}

async function listen(server: http.Server, wanted: number): Promise<number> {
  try {
    await bound(server, wanted);
  } catch (error) {
    if (wanted === 0) throw error;
    await bound(server, 0);
  }
  return (server.address() as AddressInfo).port;
}

function bound(server: http.Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}
