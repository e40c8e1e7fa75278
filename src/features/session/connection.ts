/** A session's way to its model: opened when it is first needed, and anew after a failure. */
import type { PolicyInfo } from '../../core/policy';
import type { Ports } from '../../core/rehearsal/drivers';

export class Connection {
  private ports: Ports | null = null;

  /** `info` is what the session was started with, known before anything is connected. */
  constructor(
    private readonly connect: (signal: AbortSignal) => Promise<Ports>,
    private readonly info: PolicyInfo,
  ) {}

  async open(signal: AbortSignal): Promise<Ports> {
    this.ports ??= await this.connect(signal);
    return this.ports;
  }

  /** The next `open` connects anew: the server may have come back at another address. */
  drop(): void {
    this.ports = null;
  }

  /** Ports that connect when they are first used: what steps over stored tokens may never need a server. */
  whenNeeded(): Ports {
    const get = async (signal?: unknown) => this.open(signal as AbortSignal);
    return {
      policy: {
        info: this.info,
        render: async (request, signal) => (await get(signal)).policy.render(request, signal),
        decode: async (ids, signal) => (await get(signal)).policy.decode(ids, signal),
        sample: async function* (request, signal) {
          yield* (await get(signal)).policy.sample(request, signal);
        },
      },
      render: async (segment, signal) => (await get(signal)).render(segment, signal),
    };
  }
}
