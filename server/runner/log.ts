/** The server's log: lines with a time, in a file that is turned over before it grows without bound. */
import fs from 'node:fs';

const MOST_BYTES = 2 << 20;

export class Log {
  private fd: number;
  private bytes: number;

  constructor(
    private readonly file: string,
    private readonly echo = false,
  ) {
    this.fd = fs.openSync(file, 'a', 0o600);
    this.bytes = fs.fstatSync(this.fd).size;
  }

  write(source: 'server' | 'engine', text: string): void {
    const line = `${new Date().toISOString()} ${source}: ${text.slice(0, 4000)}\n`;
    if (this.echo) process.stderr.write(line);
    try {
      if (this.bytes > MOST_BYTES) this.turnOver();
      this.bytes += fs.writeSync(this.fd, line);
    } catch {
      // A full disk must not stop the server.
    }
  }

  /** The last full file is kept beside: at most twice the bound in all. */
  private turnOver(): void {
    fs.closeSync(this.fd);
    fs.renameSync(this.file, `${this.file}.1`);
    this.fd = fs.openSync(this.file, 'a', 0o600);
    this.bytes = 0;
  }
}
