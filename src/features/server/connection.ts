/**
 * The one connection of this window: to the local server, started when it is first needed, or to the address in
 * the settings. Says what state it is in; every failure is a `UserError` and a state.
 */
import * as vscode from 'vscode';
import type { Policy, Signal } from '../../core/policy';
import { connectPolicy } from '../../node/policies/connect';
import { listModels } from '../../node/policies/models';
import { askHealth } from '../../node/server/discovery';
import type { Config } from '../config';
import { notTrusted } from '../errors';
import type { Log, Server } from '../services';
import type { BearerTokens } from './bearer-tokens';
import type { LocalServer } from './local';
import { NO_SERVER, type ServerStatus } from './state';

/** How often the local server is asked whether it still lives. */
const LOOK_MS = 10_000;
/** How long the server is busy, or idle, before it is said. */
const BUSY_MS = 200;

interface Endpoint {
  baseUrl: string;
  apiKey?: string;
}

export class ServerConnection implements Server, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  status: ServerStatus = NO_SERVER;
  private streams = 0;
  private connecting = 0;
  /** Connections tried so far. */
  private attempts = 0;
  /** Requests of other windows, as far as the server tells. */
  private othersActive = false;
  private readonly timer: NodeJS.Timeout;
  private busyTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly config: Config,
    private readonly localServer: LocalServer,
    private readonly tokens: BearerTokens,
    private readonly log: Log,
  ) {
    this.timer = setInterval(() => {
      if (vscode.window.state.focused && this.status.local) this.lookQuietly();
    }, LOOK_MS);
  }

  get busy(): boolean {
    return this.streams > 0 || this.othersActive;
  }

  /** File that the local server writes its log to; null for other servers. */
  get logFile(): string | null {
    return this.status.local ? this.localServer.logFile : null;
  }

  dispose(): void {
    clearInterval(this.timer);
    clearTimeout(this.busyTimer);
    this.changed.dispose();
  }

  async connect(model?: string, signal?: Signal): Promise<Policy> {
    return this.attempt(async () => {
      const endpoint = await this.endpoint(signal);
      const policy = await connectPolicy({ ...endpoint, model }, signal);
      const { info } = policy;
      this.set({
        state: 'ready',
        address: endpoint.baseUrl,
        model: info.model,
        tier: info.tier,
        contextLength: info.contextLength,
        message: '',
      });
      return this.counted(policy);
    }, signal);
  }

  async models(): Promise<string[]> {
    return this.attempt(async () => {
      const { baseUrl, apiKey } = await this.endpoint();
      const models = await listModels(baseUrl, apiKey);
      this.set({ state: 'ready', address: baseUrl, models, model: this.nextModel(models), message: '' });
      return models;
    });
  }

  async address({ start }: { start: boolean }): Promise<{ url: string; token: string } | null> {
    if (!vscode.workspace.isTrusted) throw notTrusted();
    const other = await this.otherThatTrains();
    if (other) return other;
    const running = await this.localServer.find();
    if (running) return { url: running.url, token: running.token };
    if (!start) return null;
    const { url, token } = await this.localServer.ensure();
    this.lookQuietly();
    return { url, token };
  }

  /** A model server of the settings (vLLM, …) only samples; a Rehearsal server elsewhere trains too. */
  private async otherThatTrains(): Promise<{ url: string; token: string } | null> {
    const url = this.config.serverAddress;
    if (!url) return null;
    const token = (await this.tokens.get(url)) ?? '';
    return (await askHealth(url, token))?.training ? { url, token } : null;
  }

  /** Starts the local server where it does not run; asks before the first set-up. */
  async start(): Promise<void> {
    await this.models();
  }

  async stop(): Promise<void> {
    await this.localServer.stop();
    this.set({ ...NO_SERVER, local: true, state: 'stopped' });
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Looks what there is, and starts nothing. */
  lookQuietly(): void {
    this.look().catch((error) => this.log.error('The server could not be looked at.', error));
  }

  private async look(): Promise<void> {
    if (!vscode.workspace.isTrusted) return;
    const address = this.config.serverAddress;
    if (address) {
      if (this.status.address !== address)
        this.set({ ...NO_SERVER, local: false, address, state: 'stopped' });
      return;
    }
    const { attempts } = this;
    const found = await this.localServer.find();
    // Whoever connects just now, or did so since this was asked, knows better.
    if (this.connecting > 0 || attempts !== this.attempts) return;
    if (!found) {
      const state = this.localServer.isSetUp() ? 'stopped' : 'missing';
      // A failure stays to be read until something else is tried.
      if (this.status.state !== 'failed' || !this.status.local) this.set({ ...NO_SERVER, state });
      return;
    }
    const { engine, models, active } = found.health;
    this.othersActive = active > this.streams;
    const state = engine.state === 'ready' ? 'ready' : engine.state === 'failed' ? 'failed' : 'starting';
    const model = this.nextModel(models);
    this.set({
      local: true,
      state,
      address: found.url,
      models,
      model,
      message: engine.state === 'ready' ? '' : engine.message,
    });
  }

  /** What the next connection will ask for. */
  private nextModel(models: readonly string[]): string | null {
    const wanted = this.config.model();
    // Checkpoints of runs are offered too; the server's health leaves them out.
    const isOffered = wanted && (models.includes(wanted) || /\/step-\d+$/.test(wanted));
    return isOffered ? wanted : (models[0] ?? null);
  }

  private async endpoint(signal?: Signal): Promise<Endpoint> {
    const address = this.config.serverAddress;
    if (address) {
      this.set({ ...(this.status.address === address ? {} : NO_SERVER), local: false, address });
      return { baseUrl: address, apiKey: await this.tokens.get(address) };
    }
    const running = await this.localServer.find();
    if (running?.health.engine.state === 'ready') return { baseUrl: running.url, apiKey: running.token };
    this.set({ ...NO_SERVER, state: 'starting', message: '' });
    const { url, token, models } = await this.localServer.ensure(signal);
    this.set({ address: url, models });
    return { baseUrl: url, apiKey: token };
  }

  private async attempt<T>(work: () => Promise<T>, signal?: Signal): Promise<T> {
    if (!vscode.workspace.isTrusted) throw notTrusted();
    this.connecting++;
    this.attempts++;
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted || isCancelled(error)) {
        this.set({ ...NO_SERVER, state: 'unknown' });
        throw new vscode.CancellationError();
      }
      this.log.warn(`Server: ${(error as Error).message}`);
      this.set({ state: 'failed', message: (error as Error).message });
      throw error;
    } finally {
      this.connecting--;
      if (this.status.state === 'unknown') this.lookQuietly();
    }
  }

  /** The same policy, whose streams show as busy. */
  private counted(policy: Policy): Policy {
    const count = (change: number) => {
      this.streams += change;
      // A step of one token is over before anybody could read that the server was busy.
      clearTimeout(this.busyTimer);
      this.busyTimer = setTimeout(() => this.changed.fire(), BUSY_MS);
    };
    return {
      ...policy,
      async *sample(request, signal) {
        count(1);
        try {
          yield* policy.sample(request, signal);
        } finally {
          count(-1);
        }
      },
    };
  }

  private set(change: Partial<ServerStatus>): void {
    const next = { ...this.status, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.status)) return;
    this.status = next;
    this.changed.fire();
  }
}

function isCancelled(error: unknown): boolean {
  return error instanceof vscode.CancellationError || (error as { code?: unknown }).code === 'cancelled';
}
