/** Tells when nothing has come for a while: a server that hangs must not look like one that thinks. */
const PATIENCE_MS = 10_000;

export class Patience {
  /** What a person is told while a server keeps them waiting; else empty. */
  notice = '';
  private timer: NodeJS.Timeout | undefined;

  /** `tell` is called when there is a notice. */
  constructor(private readonly tell: () => void) {}

  /** From now on, something is waited for. */
  begin(): void {
    this.end();
    this.timer = setTimeout(() => {
      this.notice = `The server has sent nothing for ${PATIENCE_MS / 1000} s; Pause stops waiting`;
      this.tell();
    }, PATIENCE_MS);
    this.timer.unref?.();
  }

  end(): void {
    clearTimeout(this.timer);
    this.notice = '';
  }
}
