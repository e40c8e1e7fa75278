/**
 * Workers that may serve another session: all they did was to call tools that are declared to change nothing, and
 * their state is as it began. Starting a worker costs more than most calls.
 */
import type { HostAnswer, ModuleHost } from './host';

/** A worker that runs now; it is replaced by another one where it had to be stopped. */
export interface Running {
  s: number;
  opened: Promise<string[]>;
  waiting: Map<number, { resolve(answer: HostAnswer): void; reject(error: Error): void }>;
  /** Told when the worker is gone. */
  gone: () => void;
}

/** More than are used at the same time anywhere. */
const KEPT = 16;

export class Spares {
  private readonly kept: { key: string; running: Running }[] = [];

  constructor(private readonly host: ModuleHost) {}

  /** @param key of the module's sources and the state that a session begins in */
  take(key: string): Running | null {
    const found = this.kept.find((one) => one.key === key);
    if (!found) return null;
    this.kept.splice(this.kept.indexOf(found), 1);
    this.host.wake(found.running.s);
    return found.running;
  }

  give(key: string, running: Running): void {
    running.gone = () => {
      const at = this.kept.findIndex((one) => one.running === running);
      if (at >= 0) this.kept.splice(at, 1);
    };
    this.kept.push({ key, running });
    this.host.rest(running.s);
    if (this.kept.length > KEPT) this.host.close(this.kept.shift()!.running.s);
  }
}
