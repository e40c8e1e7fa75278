/**
 * One open session: the only source of position for panel, transcript and debugger. All of them call its
 * gestures and follow its events; none of them keeps a position of its own.
 */
import { EventEmitter } from 'node:events';
import {
  drive,
  oneOutput,
  oneToken,
  oneTurn,
  type Ports,
  toTheEnd,
  type Until,
} from '../../core/rehearsal/drivers';
import { chooseAlternative, restartTask, sampleAgain } from '../../core/rehearsal/forks';
import type { Session, SessionRecord } from '../../core/rehearsal/session';
import type { UserError } from '../../core/user-error';
import { failureOf } from './failure';
import { type Stop, type StopKind, type Surface, stopText } from './stops';

export type Gesture = 'token' | 'output' | 'turn' | 'continue';
export type Status = 'stopped' | 'running' | 'ended' | 'failed';

type Step = Parameters<Until>[0];

/** Why to stop after a step besides the gesture itself: breakpoints and filters. */
export type Watch = (step: Step) => Pick<Stop, 'kind' | 'exception'> | null;

export interface LiveOptions {
  id: string;
  /** The saved session. */
  file: string;
  /** Path of the environment file it was started from; empty where that is not known. */
  environmentFile: string;
  session: Session;
  /** What a person should know of the file: that it was damaged, and how far it could be read. */
  notice?: string | null;
  /** Connects to the model; called before the first step that samples and again after a failure. */
  connect(signal: AbortSignal): Promise<Ports>;
  log?(message: string, cause?: unknown): void;
  /** Milliseconds, from any start. */
  now?(): number;
}

interface Events {
  /** A node was added or the cursor moved; many in a second while it runs. */
  record: [SessionRecord];
  /** It began to run. */
  run: [Surface];
  /** It stands still again, or its place changed while it stood. */
  stop: [Stop];
  /** Still running, with something to tell: what it waits for. */
  notice: [];
  close: [];
}

const UNTIL: { [gesture in Gesture]: Until } = {
  token: oneToken,
  output: oneOutput,
  turn: oneTurn,
  continue: toTheEnd,
};

const PATIENCE_MS = 10_000;

export class LiveSession extends EventEmitter<Events> {
  readonly id: string;
  readonly file: string;
  readonly environmentFile: string;
  readonly session: Session;
  watch: Watch = () => null;
  status: Status;
  failure: UserError | null = null;
  lastStop: Stop;
  /** Set while a server keeps a person waiting. */
  notice = '';
  private readonly history: { at: number; tip: number }[] = [];
  private readonly options: LiveOptions;
  private ports: Ports | null = null;
  private running: { abort: AbortController; done: Promise<void>; since: number } | null = null;
  private milliseconds = 0;
  private sampled: number;
  private patience: NodeJS.Timeout | undefined;

  constructor(options: LiveOptions) {
    super();
    this.setMaxListeners(50);
    this.options = options;
    this.id = options.id;
    this.file = options.file;
    this.environmentFile = options.environmentFile;
    this.session = options.session;
    this.sampled = this.session.nodes.filter((node) => isSampled(node.reply)).length;
    const kind = this.ended ? 'end' : this.session.cursor.id === 0 ? 'entry' : 'goto';
    this.status = this.ended ? 'ended' : 'stopped';
    const text = [stopText(kind, this.session), options.notice].filter(Boolean).join('. ');
    this.lastStop = { kind, text, by: 'debugger' };
  }

  get ended(): boolean {
    return this.session.state.position.kind === 'done';
  }

  /** Tokens sampled in this session, all branches. */
  get tokens(): number {
    return this.sampled;
  }

  /** Time spent running since it was opened, in seconds. */
  get seconds(): number {
    const current = this.running ? this.now() - this.running.since : 0;
    return (this.milliseconds + current) / 1000;
  }

  get canStepBack(): boolean {
    return this.session.cursor.id !== 0;
  }

  /** To be given every record of the session, by whoever made it. */
  noted(record: SessionRecord): void {
    if (record.t === 'reply' && isSampled(record.reply)) this.sampled++;
    if (this.running) this.bePatient();
    this.emit('record', record);
  }

  /** Runs until the gesture is complete, a breakpoint holds, the task ends or somebody pauses. */
  async step(gesture: Gesture, by: Surface = 'debugger'): Promise<void> {
    if (this.running) return;
    if (this.ended && !this.session.next()) return this.stand('end', by);
    const from = this.place();
    await this.run(by, async (ports, signal) => {
      await drive(this.session, ports, this.untilOf(gesture), signal);
      return signal.aborted ? 'pause' : 'step';
    });
    if (this.session.cursor.id !== from.at) this.history.push(from);
  }

  /** Stops between two tokens; the server is told to stop as well. */
  async pause(): Promise<void> {
    this.running?.abort.abort();
    await this.running?.done;
  }

  /** Undoes the last step, also one that forked; without a step to undo, goes one step towards the start. */
  async back(by: Surface = 'debugger'): Promise<void> {
    await this.pause();
    const last = this.history.pop();
    if (last) {
      this.session.move(last.tip);
      this.session.move(last.at);
    } else {
      this.session.move(this.stepBefore(this.session.cursor.id));
    }
    this.stand(this.session.cursor.id === 0 ? 'entry' : 'step', by);
  }

  /** Back to the nearest earlier step that `watch` stops at, else to the start. */
  async reverseContinue(by: Surface = 'debugger'): Promise<void> {
    await this.pause();
    this.remember();
    const path = this.session.path();
    for (let i = path.length - 2; i > 0; i--) {
      const found = this.seenAt(path[i]!.id);
      if (!found) continue;
      this.session.move(path[i]!.id);
      return this.stand(found.kind, by, found.exception);
    }
    this.session.move(0);
    this.stand('entry', by);
  }

  /** The whole task again from its first token; the branch left behind is kept. */
  async restart(by: Surface = 'debugger'): Promise<void> {
    await this.pause();
    this.remember();
    restartTask(this.session);
    this.stand('entry', by);
  }

  /** Puts an alternative in the place of the token at `node`. */
  async choose(node: number, alternative: number, by: Surface = 'debugger'): Promise<void> {
    await this.pause();
    const { reply } = this.session.node(node);
    const choice =
      reply?.kind === 'token' && reply.token.alternatives.find((other) => other.id === alternative);
    if (!choice) throw new RangeError(`node ${node} has no alternative ${alternative}`);
    this.remember();
    chooseAlternative(this.session, node, choice);
    this.stand(this.ended ? 'end' : 'goto', by);
  }

  /** Begins the output at `node` again, with other draws, and stops before its first token. */
  async restartOutput(node: number, by: Surface = 'debugger'): Promise<void> {
    await this.pause();
    this.remember();
    sampleAgain(this.session, node);
    this.stand('goto', by);
  }

  /** Samples the output at `node` again, all of it. */
  async again(node: number, by: Surface = 'debugger'): Promise<void> {
    await this.pause();
    const from = this.place();
    sampleAgain(this.session, node);
    this.history.push(from);
    await this.run(by, async (ports, signal) => {
      await drive(this.session, ports, this.untilOf('output'), signal);
      return signal.aborted ? 'pause' : 'step';
    });
  }

  async goto(node: number, by: Surface = 'debugger'): Promise<void> {
    await this.pause();
    this.session.node(node);
    this.remember();
    this.session.move(node);
    this.stand(this.ended ? 'end' : 'goto', by);
  }

  /** Stands still for good; what is on the disk stays. */
  async close(): Promise<void> {
    await this.pause();
    this.emit('close');
  }

  /** What the model can be asked for besides steps: the console's rehearsals. */
  async connection(signal: AbortSignal): Promise<Ports> {
    this.ports ??= await this.options.connect(signal);
    return this.ports;
  }

  private async run(
    by: Surface,
    drives: (ports: Ports, signal: AbortSignal) => Promise<StopKind>,
  ): Promise<void> {
    const abort = new AbortController();
    let finished = () => {};
    const done = new Promise<void>((ok) => {
      finished = ok;
    });
    this.running = { abort, done, since: this.now() };
    this.status = 'running';
    this.failure = null;
    this.bePatient();
    this.emit('run', by);
    const from = this.session.cursor.id;
    let kind: StopKind;
    try {
      // A step over stored tokens needs no server, so it must not fail for want of one.
      const ports = this.session.next() ? this.lazyPorts() : await this.connection(abort.signal);
      kind = abort.signal.aborted ? 'pause' : await drives(ports, abort.signal);
    } catch (error) {
      kind = abort.signal.aborted ? 'pause' : 'failed';
      if (kind === 'failed') this.fail(error);
    }
    clearTimeout(this.patience);
    this.notice = '';
    this.milliseconds += this.now() - this.running.since;
    this.running = null;
    const seen =
      kind === 'failed' || this.session.cursor.id === from ? null : this.seenAt(this.session.cursor.id);
    if (this.ended && kind !== 'failed') this.stand('end', by);
    else this.stand(kind === 'step' && seen ? seen.kind : kind, by, seen?.exception);
    finished();
  }

  private fail(error: unknown): void {
    this.failure = failureOf(error);
    // The next step connects anew: the server may have come back at another address.
    this.ports = null;
    this.options.log?.(`session ${this.id}: ${this.failure.message}`, error);
  }

  /** Ports that connect when the stored tokens have run out. */
  private lazyPorts(): Ports {
    const { policy: info } = this.session.setup;
    const get = async (signal?: unknown) => this.connection(signal as AbortSignal);
    return {
      policy: {
        info,
        render: async (request, signal) => (await get(signal)).policy.render(request, signal),
        decode: async (ids, signal) => (await get(signal)).policy.decode(ids, signal),
        sample: async function* (request, signal) {
          yield* (await get(signal)).policy.sample(request, signal);
        },
      },
      render: async (segment, signal) => (await get(signal)).render(segment, signal),
    };
  }

  private untilOf(gesture: Gesture): Until {
    const until = UNTIL[gesture];
    // One token always stops; `drive` knows it by identity and asks the server for one token only.
    if (gesture === 'token') return until;
    return (step) => until(step) || this.watch(step) !== null;
  }

  /** What `watch` says of the step that led to a node. */
  private seenAt(id: number): ReturnType<Watch> {
    const node = this.session.node(id);
    if (node.parent === null || !node.reply || node.reply.kind === 'prompt') return null;
    return this.watch({
      before: this.session.node(node.parent).state,
      after: node.state,
      reply: node.reply,
      node,
    });
  }

  private stand(kind: StopKind, by: Surface, exception?: Stop['exception']): void {
    if (kind !== 'failed') this.failure = null;
    this.status = kind === 'failed' ? 'failed' : this.ended ? 'ended' : 'stopped';
    const text = kind === 'failed' ? this.failure!.message : stopText(kind, this.session);
    this.lastStop = { kind, text, by, ...(exception && { exception }) };
    this.emit('stop', this.lastStop);
  }

  private stepBefore(id: number): number {
    let node = this.session.node(id);
    if (node.parent === null) return id;
    do node = this.session.node(node.parent!);
    while (node.reply?.kind === 'prompt' && node.parent !== null);
    return node.id;
  }

  private place(): { at: number; tip: number } {
    return { at: this.session.cursor.id, tip: this.session.tip.id };
  }

  private remember(): void {
    this.history.push(this.place());
  }

  /** Says so when nothing has come for a while: a server that hangs must not look like one that thinks. */
  private bePatient(): void {
    clearTimeout(this.patience);
    this.notice = '';
    this.patience = setTimeout(() => {
      this.notice = `The server has sent nothing for ${PATIENCE_MS / 1000} s; Pause stops waiting`;
      this.emit('notice');
    }, PATIENCE_MS);
    this.patience.unref?.();
  }

  private now(): number {
    return this.options.now?.() ?? performance.now();
  }
}

function isSampled(reply: unknown): boolean {
  const { kind, token } = (reply ?? {}) as { kind?: string; token?: { origin: string } };
  return kind === 'token' && token?.origin === 'sampled';
}
