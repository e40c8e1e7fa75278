/** Where the time of a step goes: the phases as they are waited for, and the runner's own work apart. */
import type { Metrics } from '../../../src/core/training/run.types';

export type Phase = Exclude<keyof Metrics['seconds'], 'other' | 'total'>;

export class Phases {
  private readonly seconds: Record<Phase, number> = {
    sample: 0,
    learn: 0,
    sync: 0,
    evaluate: 0,
    save: 0,
  };
  private readonly started = performance.now();

  constructor(private readonly onPhase: (phase: Phase) => void) {}

  /** What the work waited for; what this process computed meanwhile counts as the runner's own. */
  async time<T>(phase: Phase, work: () => Promise<T>): Promise<T> {
    this.onPhase(phase);
    const started = performance.now();
    const own = ownSeconds();
    try {
      return await work();
    } finally {
      const wall = (performance.now() - started) / 1000;
      this.seconds[phase] += Math.max(0, wall - (ownSeconds() - own));
    }
  }

  get result(): Metrics['seconds'] {
    const total = (performance.now() - this.started) / 1000;
    const waited = Object.values(this.seconds).reduce((sum, one) => sum + one, 0);
    return { ...this.seconds, other: Math.max(0, total - waited), total };
  }
}

/** CPU time of this process. */
function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
