/** The sessions that are open in this window, each once, whoever opened it. Knows no VS Code. */
import { EventEmitter } from 'node:events';
import { createRenderer } from '../../core/conversation/render';
import type { Environment, Task } from '../../core/environment/types';
import type { Policy } from '../../core/policy';
import type { Ports } from '../../core/rehearsal/drivers';
import type { Sink } from '../../core/rehearsal/session';
import type { ObservationsFrom, RehearsalOptions, Setup } from '../../core/rehearsal/types';
import { UserError } from '../../core/user-error';
import { createSession, openSession, type StoredSession, sessionsFolder } from '../../node/sessions/file';
import { withServerTools } from '../../node/tools/server-tools';
import { usable } from '../environments/usable';
import type { Services } from '../services';
import { LiveSession } from './live';

export interface NewSession {
  /** Path of the environment file. */
  file: string;
  task: string;
  model?: string;
  seed?: number;
  temperature?: number;
  /** Who answers the calls; by default the policy. */
  observations?: ObservationsFrom;
}

export interface SessionsHost
  extends Pick<Services, 'environments' | 'log' | 'server' | 'settings' | 'tools'> {
  /** The folder whose `.rehearsal` keeps the sessions of an environment file. */
  folderOf(environmentFile: string): string;
}

export class Sessions extends EventEmitter<{ change: [] }> {
  private readonly opened = new Map<string, { live: LiveSession; stored: StoredSession }>();
  private readonly opening = new Map<string, Promise<LiveSession>>();

  constructor(private readonly host: SessionsHost) {
    super();
  }

  get all(): LiveSession[] {
    return [...this.opened.values()].map(({ live }) => live);
  }

  /** Starts a session. Throws `UserError` where the environment, the task or the model cannot be had. */
  async create({ file, task: id, model, seed, temperature, observations }: NewSession): Promise<LiveSession> {
    const environment = await this.withServerTools(file, usable(await this.host.environments.load(file)));
    const task = taskOf(environment, id, file);
    const policy = await this.host.server.connect(model ?? this.host.settings.model());
    const options: RehearsalOptions = {
      ...this.host.settings.sampling(),
      ...(seed !== undefined && { seed }),
      ...(temperature !== undefined && { temperature }),
      priority: 0,
      observations: observations ?? 'rehearse',
    };
    const setup: Setup = { environment, task, options, policy: policy.info };
    const folder = sessionsFolder(this.host.folderOf(file));
    return this.keep((onRecord) => createSession(folder, setup, { environmentFile: file, onRecord }), policy);
  }

  /** Opens a saved session, or gives the one that is open already. Throws `UserError`. */
  open(file: string): Promise<LiveSession> {
    const known = this.opened.get(file);
    if (known) return Promise.resolve(known.live);
    const pending = this.opening.get(file) ?? this.read(file).finally(() => this.opening.delete(file));
    this.opening.set(file, pending);
    return pending;
  }

  private async read(file: string): Promise<LiveSession> {
    const live = this.keep((onRecord) => openSession(file, { onRecord }));
    const { stored } = this.opened.get(live.file)!;
    if (stored.notice) this.host.log.warn(stored.notice);
    return live;
  }

  /** Ends a session of this window; its file stays and can be opened again. */
  async close(live: LiveSession): Promise<void> {
    const known = this.opened.get(live.file);
    if (!known) return;
    this.opened.delete(live.file);
    await live.close();
    known.stored.close();
    this.emit('change');
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.all.map((live) => this.close(live)));
  }

  private keep(store: (onRecord: Sink) => StoredSession, policy?: Policy): LiveSession {
    let live: LiveSession | undefined;
    const stored = store((record) => live?.noted(record));
    const { session } = stored;
    let first = policy;
    live = new LiveSession({
      id: stored.id,
      file: stored.path,
      environmentFile: stored.environmentFile ?? '',
      notice: stored.notice,
      session,
      connect: async (signal) => {
        const connected = first ?? (await this.host.server.connect(session.setup.policy.model, signal));
        first = undefined;
        return portsOf(connected);
      },
      tools: {
        environment: () => this.withExecutor(stored.environmentFile ?? '', session.setup.environment),
        executorFor: (environment) => this.host.tools.executorFor(stored.environmentFile ?? '', environment),
      },
      log: (message, cause) => this.host.log.error(message, cause),
    });
    this.opened.set(stored.path, { live, stored });
    live.on('stop', () => this.emit('change'));
    this.emit('change');
    return live;
  }

  /** An environment without tools of its own has those of its server, once the person allows to ask it. */
  private async withServerTools(file: string, environment: Environment): Promise<Environment> {
    if (environment.tools.length > 0 || !environment.executor) return environment;
    const executor = this.host.tools.executorFor(file, environment);
    return withServerTools(environment, executor).finally(() => executor.close());
  }

  /** A session keeps the environment that it began with, but tools run as their file says now. */
  private async withExecutor(file: string, environment: Environment): Promise<Environment> {
    if (!file) return environment;
    const { environment: now } = await this.host.environments.load(file);
    return now ? { ...environment, executor: now.executor } : environment;
  }
}

function taskOf(environment: Environment, id: string, file: string): Task {
  const task = environment.tasks.find((candidate) => candidate.id === id);
  if (task) return task;
  const ids = environment.tasks.map((candidate) => candidate.id);
  throw new UserError(
    `There is no task ${id} in ${file}.`,
    ids.length > 0 ? `There are: ${ids.join(', ')}.` : 'Add a task to it first.',
  );
}

function portsOf(policy: Policy): Ports {
  return { policy, render: createRenderer(policy) };
}
