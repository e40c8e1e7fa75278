/**
 * One open session: the only source of position for panel, transcript and debugger. All of them call its
 * gestures and follow its events; none of them keeps a position of its own.
 */
import { EventEmitter } from 'node:events';
import type { Gesture, Ports } from '../../core/rehearsal/drivers';
import { sampleAgain } from '../../core/rehearsal/forks';
import type { Session, SessionRecord } from '../../core/rehearsal/session';
import type { ObservationsFrom } from '../../core/rehearsal/types';
import type { UserError } from '../../core/user-error';
import { Beside, type BesideHost } from './beside';
import { Connection } from './connection';
import { failureOf } from './failure';
import { differenceAt, driveLooking } from './looking';
import { Meter } from './meter';
import { alternativeAt, beforeOutput, type Move, realAnswerAt, restarted, to, toEarlier } from './moves';
import { Patience } from './patience';
import { firstNotReal } from './real';
import { Run } from './run';
import { type SessionEvents, type Stop, type StopKind, type Surface, stopText } from './stops';
import { Undo } from './undo';
import { type Reason, stepTo, type Watch } from './watching';

export type Status = 'stopped' | 'running' | 'ended' | 'failed';

export interface LiveOptions {
  id: string;
  /** The saved session. */
  file: string;
  /** Path of the environment file it was started from; empty where that is not known. */
  environmentFile: string;
  session: Session;
  /** What a person should know of the file: that it was damaged, and how far it could be read. */
  notice?: string | null;
  /** The real tools of its environment. */
  tools: Omit<BesideHost, 'ports'>;
  /** Connects to the model; called before the first step that samples and again after a failure. */
  connect(signal: AbortSignal): Promise<Ports>;
  log?(message: string, cause?: unknown): void;
  /** Milliseconds, from any start. */
  now?(): number;
}

export class LiveSession extends EventEmitter<SessionEvents> {
  readonly id: string;
  readonly file: string;
  readonly environmentFile: string;
  readonly session: Session;
  /** What the real tools answer to its calls. */
  readonly beside: Beside;
  watch: Watch = () => null;
  /** Have each rehearsed answer executed as well, and stop where both differ. */
  looksAtReal = false;
  status: Status;
  failure: UserError | null = null;
  lastStop: Stop;
  private readonly steps: Undo;
  private readonly options: LiveOptions;
  private readonly model: Connection;
  private readonly patience = new Patience(() => this.emit('notice'));
  private running: Run | null = null;
  private from: ObservationsFrom;
  private readonly meter: Meter;

  constructor(options: LiveOptions) {
    super();
    this.setMaxListeners(50);
    this.options = options;
    this.id = options.id;
    this.file = options.file;
    this.environmentFile = options.environmentFile;
    this.session = options.session;
    this.steps = new Undo(this.session);
    this.model = new Connection(options.connect, this.session.setup.policy);
    this.beside = new Beside(this.session, {
      ...options.tools,
      ports: (signal) => this.connection(signal),
    });
    this.from = this.session.setup.options.observations;
    this.meter = new Meter(this.session);
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
    return this.meter.tokens;
  }

  /** Time spent running since it was opened, in seconds. */
  get seconds(): number {
    return (this.meter.milliseconds + (this.running?.milliseconds ?? 0)) / 1000;
  }

  get canStepBack(): boolean {
    return this.session.cursor.id !== 0;
  }

  /** Who answers the next calls. */
  get observations(): ObservationsFrom {
    return this.from;
  }

  set observations(from: ObservationsFrom) {
    if (from === this.from) return;
    this.from = from;
    this.emit('observations');
  }

  /** Set while a server keeps a person waiting. */
  get notice(): string {
    return this.patience.notice;
  }

  /** To be given every record of the session, by whoever made it. */
  noted(record: SessionRecord): void {
    this.meter.noted(record);
    if (this.running) this.patience.begin();
    this.emit('record', record);
  }

  /** Runs until the gesture is complete, a breakpoint holds, the task ends or somebody pauses. */
  async step(gesture: Gesture, by: Surface = 'debugger'): Promise<void> {
    if (this.running) return;
    if (this.ended && !this.session.next()) return this.stand('end', by);
    const from = this.steps.place();
    await this.run(gesture, by);
    if (this.session.cursor.id !== from.at) this.steps.did(from);
  }

  /** Stops between two tokens; the server is told to stop as well. */
  async pause(): Promise<void> {
    await this.running?.stop();
  }

  /** Undoes the last step, also one that forked; without a step to undo, goes one step towards the start. */
  async back(by: Surface = 'debugger'): Promise<void> {
    await this.pause();
    this.steps.undo();
    this.stand(this.session.cursor.id === 0 ? 'entry' : 'step', by);
  }

  /** Back to the nearest earlier step that `watch` stops at, else to the start. */
  reverseContinue(by: Surface = 'debugger'): Promise<void> {
    return this.jump(
      by,
      toEarlier((node) => this.seenAt(node)),
    );
  }

  /** The whole task again from its first token; the branch left behind is kept. */
  restart(by: Surface = 'debugger'): Promise<void> {
    return this.jump(by, restarted);
  }

  /** Puts an alternative in the place of the token at `node`. */
  choose(node: number, alternative: number, by: Surface = 'debugger'): Promise<void> {
    return this.jump(by, alternativeAt(node, alternative));
  }

  /** Begins the output at `node` again, in a new draw, and stops before its first token. */
  restartOutput(node: number, by: Surface = 'debugger'): Promise<void> {
    return this.jump(by, beforeOutput(node));
  }

  goto(node: number, by: Surface = 'debugger'): Promise<void> {
    return this.jump(by, to(node));
  }

  /** Samples the output at `node` again, all of it. */
  async again(node: number, by: Surface = 'debugger'): Promise<void> {
    await this.pause();
    const from = this.steps.place();
    sampleAgain(this.session, node);
    this.steps.did(from);
    await this.run('output', by);
  }

  /** Puts the real answer in the place of the one at `node`, in a branch of its own. */
  take(node: number, by: Surface = 'debugger'): Promise<void> {
    return this.jump(by, realAnswerAt(node, this.beside.get(node)));
  }

  /**
   * The same task with the real tools, beside the branch shown: leaves it where the first call that was not
   * executed is answered, and runs to the end. Answers the tips of both, or null where no call was made yet.
   */
  async runForReal(by: Surface = 'debugger'): Promise<{ rehearsed: number; real: number } | null> {
    await this.pause();
    const rehearsed = this.session.tip.id;
    const leaves = firstNotReal(this.session);
    if (!leaves) return null;
    this.steps.did(this.steps.place());
    this.observations = 'real';
    await this.run('continue', by, async (signal) => {
      const execution = await this.beside.executeOpen(leaves.id, signal);
      this.session.add({ kind: 'executed', ...execution }, leaves.id);
    });
    return { rehearsed, real: this.session.tip.id };
  }

  /** Stands still for good; what is on the disk stays. */
  async close(): Promise<void> {
    await this.pause();
    this.emit('close');
    await this.beside.close();
  }

  /** What the model can be asked for besides steps: the console's rehearsals. */
  connection(signal: AbortSignal): Promise<Ports> {
    return this.model.open(signal);
  }

  /** Moves at once what stands still; Step Back undoes it. */
  private async jump(by: Surface, move: Move): Promise<void> {
    await this.pause();
    const from = this.steps.place();
    const { kind, exception } = move(this.session);
    this.steps.did(from);
    this.stand(kind, by, exception);
  }

  /** @param first what comes before the gesture; where it fails, the session stays where it was */
  private async run(
    gesture: Gesture,
    by: Surface,
    first?: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const run = new Run(this.options.now ?? (() => performance.now()));
    const { signal } = run;
    this.running = run;
    this.status = 'running';
    this.failure = null;
    this.patience.begin();
    this.emit('run', by);
    const from = this.session.cursor.id;
    let kind: StopKind;
    let different: Reason | null = null;
    try {
      // A step over stored tokens needs no server, so it must not fail for want of one.
      await first?.(signal);
      const model = this.session.next() ? this.model.whenNeeded() : await this.model.open(signal);
      const ports: Ports = {
        ...model,
        observations: this.from,
        execute: () => this.beside.executeOpen(this.session.cursor.id, signal),
      };
      if (!signal.aborted) different = await driveLooking(this, gesture, ports, signal);
      kind = signal.aborted ? 'pause' : 'step';
    } catch (error) {
      kind = signal.aborted ? 'pause' : 'failed';
      if (kind === 'failed') this.fail(error);
    }
    this.patience.end();
    this.meter.milliseconds += run.milliseconds;
    this.running = null;
    const hasMoved = kind !== 'failed' && this.session.cursor.id !== from;
    const seen = different ?? (hasMoved ? this.seenAt(this.session.cursor.id) : null);
    if (this.ended && kind !== 'failed') this.stand('end', by);
    else this.stand(kind === 'step' && seen ? seen.kind : kind, by, seen?.exception);
    run.finish();
  }

  private fail(error: unknown): void {
    this.failure = failureOf(error);
    this.model.drop();
    this.options.log?.(`session ${this.id}: ${this.failure.message}`, error);
  }

  /** What `watch` says of the step that led to a node. */
  private seenAt(id: number): ReturnType<Watch> {
    const step = stepTo(this.session, id);
    if (!step || step.reply.kind === 'prompt') return null;
    return this.watch(step) ?? (this.looksAtReal ? differenceAt(this.beside, id) : null);
  }

  private stand(kind: StopKind, by: Surface, exception?: Stop['exception']): void {
    if (kind !== 'failed') this.failure = null;
    this.status = kind === 'failed' ? 'failed' : this.ended ? 'ended' : 'stopped';
    const text = kind === 'failed' ? this.failure!.message : stopText(kind, this.session);
    this.lastStop = { kind, text, by, ...(exception && { exception }) };
    this.emit('stop', this.lastStop);
  }
}
