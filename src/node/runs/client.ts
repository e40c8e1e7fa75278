/** The training runs of a server, for the command line and the window. Every error is one that people can read. */
import { createParser } from 'eventsource-parser';
import type { Metrics, RolloutRecord, RunStatus } from '../../core/training/run.types';
import type { RunConfig } from '../../core/training/types';
import { UserError } from '../../core/user-error';
import { type ErrorCode, errors, NodeError } from '../errors';
import { runErrors } from './errors';
import { isRunId } from './ids';
import { until } from './patience';
import type { NewRun } from './store';

export interface RunsAddress {
  /** Of the runner, without a path. */
  url: string;
  token: string;
}

export interface FollowHandlers {
  onStatus?(status: RunStatus): void;
  /** Rows from index `from` on are these, whatever was there before. */
  onMetrics?(rows: Metrics[], from: number): void;
  /** The connection was lost, and is tried again; null once it is there again. */
  onTrouble?(why: string | null): void;
  signal: AbortSignal;
}

export interface WatchHandlers {
  onStatus(status: RunStatus): void;
  onRemoved(id: string): void;
  onTrouble?(why: string | null): void;
  signal: AbortSignal;
}

/** What a probe measured; null where it could not be. */
export interface RunEstimate {
  secondsPerStep: number | null;
  tokensPerStep: number | null;
  /** Of the whole run. */
  seconds: number | null;
  memoryBytes: number | null;
  /** What the figures are from, or why there are none. */
  why: string;
}

export type RunKeys = Readonly<Record<string, string>>;

export class RunsClient {
  /** @param address asked for before each request: a server that was started again may be elsewhere */
  constructor(private readonly address: () => Promise<RunsAddress>) {}

  launch(config: NewRun, keys: RunKeys = {}): Promise<RunStatus> {
    return this.ask('POST', '/runs', { config, keys });
  }

  async list(): Promise<RunStatus[]> {
    return (await this.ask<{ runs: RunStatus[] }>('GET', '/runs')).runs;
  }

  async get(id: string): Promise<RunStatus> {
    return this.ask('GET', path(id));
  }

  async config(id: string): Promise<RunConfig> {
    return this.ask('GET', `${path(id)}/config`);
  }

  /** @param from row to begin with, counted from 0 */
  async metrics(id: string, from = 0): Promise<Metrics[]> {
    return (await this.ask<{ rows: Metrics[] }>('GET', `${path(id)}/metrics?from=${from}`)).rows;
  }

  /** Rollouts of a step, without the records of their sessions. */
  async rollouts(id: string, step: number): Promise<RolloutRecord[]> {
    return (await this.ask<{ rollouts: RolloutRecord[] }>('GET', `${path(id)}/rollouts?step=${step}`))
      .rollouts;
  }

  /** Steps that have rollouts. */
  async steps(id: string): Promise<{ step: number; rollouts: number }[]> {
    return (await this.ask<{ steps: { step: number; rollouts: number }[] }>('GET', `${path(id)}/rollouts`))
      .steps;
  }

  /** A rollout as the text of a session file, and the step of the checkpoint that the session goes on with. */
  async session(id: string, step: number, index: number): Promise<{ text: string; checkpoint: number }> {
    const answer = await this.fetch('GET', `${path(id)}/rollouts/${step}/${index}/session`);
    return {
      text: await answer.text(),
      checkpoint: Number(answer.headers.get('x-rehearsal-checkpoint') ?? 0),
    };
  }

  /** All rollouts, or those of a step, one JSON object a line. */
  async exportRollouts(id: string, step?: number): Promise<ReadableStream<Uint8Array>> {
    const query = step === undefined ? '' : `?step=${step}`;
    return (await this.fetch('GET', `${path(id)}/rollouts.jsonl${query}`)).body!;
  }

  async stop(id: string): Promise<RunStatus> {
    return this.ask('POST', `${path(id)}/stop`);
  }

  async resume(id: string, keys: RunKeys = {}): Promise<RunStatus> {
    return this.ask('POST', `${path(id)}/resume`, { keys });
  }

  async keys(id: string, keys: RunKeys): Promise<RunStatus> {
    return this.ask('POST', `${path(id)}/keys`, { keys });
  }

  async remove(id: string): Promise<void> {
    await this.ask('DELETE', path(id));
  }

  /** @param folder absolute, new or empty */
  async export(
    id: string,
    step: number,
    kind: 'peft' | 'merged',
    folder: string,
    signal?: AbortSignal,
  ): Promise<{ folders: string[]; notes: string[] }> {
    return this.ask('POST', `${path(id)}/checkpoints/${step}/export`, { kind, folder }, signal);
  }

  probe(config: NewRun, keys: RunKeys = {}, signal?: AbortSignal): Promise<RunEstimate> {
    return this.ask('POST', '/runs/probe', { config, keys }, signal);
  }

  /** Tells a run's status and rows until the signal is aborted or the run is deleted; comes back by itself. */
  async follow(id: string, { onStatus, onMetrics, onTrouble, signal }: FollowHandlers): Promise<void> {
    let rows = 0;
    await this.stream(
      `${path(id)}/events`,
      (event, data) => {
        if (event === 'status') onStatus?.(data as RunStatus);
        else if (event === 'rewind') {
          rows = (data as { rows: number }).rows;
          onMetrics?.([], rows);
        } else if (event === 'metrics') onMetrics?.([data as Metrics], rows++);
      },
      onTrouble,
      signal,
    );
  }

  /** Tells the status of every run as it changes. */
  async watch({ onStatus, onRemoved, onTrouble, signal }: WatchHandlers): Promise<void> {
    await this.stream(
      '/runs/events',
      (event, data) => {
        if (event === 'status') onStatus(data as RunStatus);
        else if (event === 'removed') onRemoved((data as { id: string }).id);
      },
      onTrouble,
      signal,
    );
  }

  private async stream(
    url: string,
    onEvent: (event: string, data: unknown) => void,
    onTrouble: ((why: string | null) => void) | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    let last: string | undefined;
    let failures = 0;
    const parser = createParser({
      onEvent: ({ event = '', data, id }) => {
        if (id !== undefined) last = id;
        onEvent(event, JSON.parse(data));
      },
    });
    while (!signal.aborted) {
      try {
        const headers = {
          accept: 'text/event-stream',
          ...(last === undefined ? {} : { 'last-event-id': last }),
        };
        const answer = await this.fetch('GET', url, { headers, signal });
        if (failures) onTrouble?.(null);
        failures = 0;
        parser.reset();
        const decoder = new TextDecoder();
        for await (const part of answer.body!)
          parser.feed(decoder.decode(part as Uint8Array, { stream: true }));
      } catch (error) {
        if (signal.aborted) return;
        // The run is gone: nothing more will come.
        if (error instanceof NodeError && error.code === 'run-unknown') {
          if (failures || last !== undefined) return;
          throw error;
        }
        // What the transport says of a stream that broke off ("terminated") is nothing to people.
        const why = error instanceof UserError ? error.message : 'The connection to the server was lost.';
        if (failures === 0) onTrouble?.(why);
        failures++;
      }
      await until(signal, Math.min(200 * 2 ** failures, 5000));
    }
  }

  private async ask<T>(method: string, url: string, body?: object, signal?: AbortSignal): Promise<T> {
    const answer = await this.fetch(method, url, {
      ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
      ...(signal ? { signal } : {}),
    });
    return (await answer.json()) as T;
  }

  private async fetch(method: string, url: string, init: RequestInit = {}): Promise<Response> {
    const { url: base, token } = await this.address();
    let answer: Response;
    try {
      answer = await fetch(`${base}${url}`, {
        ...init,
        method,
        headers: { ...init.headers, authorization: `Bearer ${token}` },
      });
    } catch (error) {
      init.signal?.throwIfAborted();
      throw errors.refused(base, error);
    }
    if (answer.ok) return answer;
    throw await errorIn(answer, base);
  }
}

/** Throws where the id is none: addresses fold what looks like a path. */
function path(id: string): string {
  if (!isRunId(id)) throw runErrors.unknown(id);
  return `/runs/${id}`;
}

async function errorIn(answer: Response, base: string): Promise<NodeError> {
  const text = await answer.text();
  try {
    const { message, code, next } = (
      JSON.parse(text) as { error: { message: string; code: string; next?: string } }
    ).error;
    if (answer.status === 401) return errors.unauthorized(base);
    if (code === 'not_found')
      return new NodeError(
        'server-odd',
        'This server does not train.',
        'Restart it: it is of an older version.',
        {
          title: 'Restart Server',
          id: 'restartServer',
        },
      );
    return new NodeError(code as ErrorCode, message, next ?? "The server's log says more.");
  } catch {
    return errors.serverError(base, answer.status, text);
  }
}
