/** One run of a session: what can break it off, who waits for its end, and how long it took. */
export class Run {
  /** Settles once the session stands still again. */
  readonly done: Promise<void>;
  private readonly abort = new AbortController();
  private readonly since: number;
  private settle = () => {};

  /** @param now milliseconds, from any start */
  constructor(private readonly now: () => number) {
    this.since = now();
    this.done = new Promise((ok) => {
      this.settle = ok;
    });
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** So far. */
  get milliseconds(): number {
    return this.now() - this.since;
  }

  /** Breaks it off between two tokens. */
  stop(): Promise<void> {
    this.abort.abort();
    return this.done;
  }

  finish(): void {
    this.settle();
  }
}
