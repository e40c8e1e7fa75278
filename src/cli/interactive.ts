/** Keys for stepping in a terminal. The same gestures as in the editor, on the same drivers. */
import readline from 'node:readline';
import { drive, GESTURES, type Gesture, type Ports, stepBefore } from '../core/rehearsal/drivers';
import { chooseAlternative, sampleAgain } from '../core/rehearsal/forks';
import type { Session } from '../core/rehearsal/session';
import { quoted } from './style';
import type { Terminal } from './terminal';
import type { TranscriptPrinter } from './transcript';

interface Interaction {
  session: Session;
  ports: Ports;
  printer: TranscriptPrinter;
  terminal: Terminal;
  /** Gesture made at once; none where the person begins. */
  first?: Gesture;
}

const HELP =
  'enter token · o output · t turn · c continue · b back · 1–9 choose that alternative · a again · space pause · q quit';
const KEYS: { [key: string]: Gesture } = {
  return: 'token',
  enter: 'token',
  n: 'token',
  o: 'output',
  t: 'turn',
  c: 'continue',
};

/** Until the person quits or the task is done and they leave. */
export async function interact({ session, ports, printer, terminal, first }: Interaction): Promise<void> {
  const { page } = terminal;
  const keys = new Keys();
  let running: AbortController | null = null;

  async function go(gesture: Gesture): Promise<void> {
    running = new AbortController();
    keys.onInterrupt = () => running?.abort();
    try {
      await drive(session, ports, GESTURES[gesture], running.signal);
      if (running.signal.aborted) page.print(page.style.dim('  paused'));
    } catch (error) {
      // Everything that came is in the session: the person may try again.
      page.print(page.style.bad(`  ${(error as Error).message}`));
      const { next } = error as { next?: string };
      if (next) page.print(`  ${next}`);
    } finally {
      running = null;
      keys.onInterrupt = null;
    }
  }

  page.print(page.style.dim(HELP));
  try {
    if (first) await go(first);
    for (let key = await keys.next(); key !== 'q' && key !== null; key = await keys.next()) {
      const gesture = KEYS[key];
      if (gesture) await go(gesture);
      else if (key === 'b') back(session, terminal, printer);
      else if (/^[1-9]$/.test(key)) choose(session, Number(key) - 1, terminal, printer);
      else if (key === 'a') again(session, terminal, printer);
      else page.print(page.style.dim(HELP));
    }
  } finally {
    keys.close();
  }
}

function back(session: Session, { page }: Terminal, printer: TranscriptPrinter): void {
  const { id, reply } = stepBefore(session, session.cursor.id);
  session.move(id);
  printer.newHeading();
  const where =
    reply?.kind === 'token'
      ? `after ${quoted(reply.token.text)}`
      : reply
        ? `after the ${reply.kind}`
        : 'at the start';
  page.print(page.style.dim(`  back: ${where}`));
}

function choose(session: Session, index: number, { page }: Terminal, printer: TranscriptPrinter): void {
  const { reply, id } = session.cursor;
  const choice = reply?.kind === 'token' ? reply.token.alternatives[index] : undefined;
  if (!choice) {
    page.print(page.style.dim('  there is no such alternative here'));
    return;
  }
  page.print(page.style.dim(`  instead: ${quoted(choice.text)}; the other branch is kept`));
  printer.newHeading();
  chooseAlternative(session, id, choice);
}

function again(session: Session, { page }: Terminal, printer: TranscriptPrinter): void {
  if (session.cursor.parent === null) {
    page.print(page.style.dim('  nothing was sampled yet'));
    return;
  }
  sampleAgain(session, session.cursor.id);
  printer.newHeading();
  page.print(page.style.dim('  this output again, from its first token'));
}

/** Single keys from standard input. While something runs, space and Ctrl-C interrupt it. */
class Keys {
  onInterrupt: (() => void) | null = null;
  private readonly waiting: ((key: string | null) => void)[] = [];
  private readonly typed: string[] = [];

  constructor() {
    readline.emitKeypressEvents(process.stdin);
    process.stdin.setRawMode(true);
    process.stdin.resume();
    process.stdin.on('keypress', this.pressed);
  }

  next(): Promise<string | null> {
    const known = this.typed.shift();
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  close(): void {
    process.stdin.off('keypress', this.pressed);
    process.stdin.setRawMode(false);
    process.stdin.pause();
  }

  private readonly pressed = (text: string | undefined, key: { name?: string; ctrl?: boolean }): void => {
    const stops = (key.ctrl && key.name === 'c') || key.name === 'space';
    if (this.onInterrupt) {
      if (stops) this.onInterrupt();
      return; // what is typed while it runs is no gesture for later
    }
    const name = key.ctrl && (key.name === 'c' || key.name === 'd') ? null : (key.name ?? text ?? '');
    const resolve = this.waiting.shift();
    if (resolve) resolve(name);
    else if (name !== null) this.typed.push(name);
  };
}
