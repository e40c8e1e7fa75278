/**
 * What the real tools answer to the calls of a session, beside what stands in it; and where the real answer
 * stands in it, what the policy would have rehearsed. Nothing of this is part of the session until it is taken.
 * Knows no VS Code.
 */
import { EventEmitter } from 'node:events';
import type { Environment } from '../../core/environment/types';
import { rulesOf } from '../../core/fidelity/author';
import { compareAnswers } from '../../core/fidelity/compare';
import type { MarkedSurprise } from '../../core/fidelity/surprise';
import { scoredText } from '../../core/fidelity/surprise';
import type { Answer, Comparison } from '../../core/fidelity/types';
import { rehearsalPrompt, rehearseHere } from '../../core/rehearsal/ask';
import { type CallPlace, callAnsweredAt, callOpenAt } from '../../core/rehearsal/calls';
import type { Execution as CoreExecution, Ports } from '../../core/rehearsal/drivers';
import type { Session } from '../../core/rehearsal/session';
import type { Observation } from '../../core/rehearsal/types';
import { errorText, reasonOf, UserError } from '../../core/user-error';
import { answerScorer } from '../../node/fidelity/surprise';
import { type PlacedCall, World } from '../../node/tools/world';
import type { RealExecutor } from '../services';
import { failureOf } from './failure';

/** The other answer to a call: the real one to what was rehearsed, a rehearsed one to what is real. */
export interface OtherAnswer {
  /** Node of the observation that it stands beside. */
  node: number;
  source: 'real' | 'rehearsed';
  /** `failed`: there is no answer, and `failure` says why. */
  status: 'running' | 'done' | 'failed';
  answer: Answer | null;
  durationMs: number | null;
  failure: string | null;
  notes: readonly string[];
  /** What came, where that is not the text of the value. */
  raw?: string;
  /** Once it was asked for. */
  comparison: Comparison | null;
  /** How unlikely the policy finds the real answer, or why that cannot be said. */
  surprise: MarkedSurprise | null;
  unscored: string | null;
}

export interface BesideHost {
  /** The environment with the executor that its file names now; null where that is not known. */
  environment(): Promise<Environment>;
  /** Behind consent. Throws `UserError` where there is none. */
  executorFor(environment: Environment): RealExecutor;
  ports(signal: AbortSignal): Promise<Ports>;
}

/** Characters for each token that fits; a longer answer is not sent to be scored. */
const MAX_CHARACTERS_PER_TOKEN = 8;

export class Beside extends EventEmitter<{ change: [node: number] }> {
  private readonly others = new Map<number, OtherAnswer>();
  private readonly running = new Map<number, AbortController>();
  private readonly scoring = new Set<number>();
  private opened: { key: string; executor: RealExecutor; world: World } | null = null;

  constructor(
    private readonly session: Session,
    private readonly host: BesideHost,
  ) {
    super();
  }

  get all(): OtherAnswer[] {
    return [...this.others.values()];
  }

  /** Why nothing can be executed, as far as that is known without running anything; null where it can. */
  async unavailable(): Promise<string | null> {
    try {
      const { executor } = await this.host.environment();
      return executor ? null : 'The environment names no executor.';
    } catch (error) {
      return failureOf(error).message;
    }
  }

  get(node: number): OtherAnswer | undefined {
    return this.others.get(node);
  }

  /** Executes the call that was answered at `node`; what goes wrong is shown there. */
  async execute(node: number): Promise<void> {
    const place = this.placeOf(node);
    await this.asking(node, 'real', async (signal) => {
      const execution = await this.executeAt(place, signal);
      if (!execution) return null;
      const { outcome, value, durationMs, failure, notes = [], raw } = execution;
      return {
        status: failure ? 'failed' : 'done',
        answer: { outcome, value },
        durationMs,
        failure: failure?.message ?? null,
        notes,
        ...(raw !== undefined && { raw }),
      };
    });
  }

  /** Has the other answer, where it is not there yet, and compares both. */
  async compare(node: number, signal?: AbortSignal): Promise<void> {
    const place = this.placeOf(node);
    const stop = () => this.cancel(node);
    signal?.addEventListener('abort', stop, { once: true });
    const own = this.observationAt(place, node);
    if (this.others.get(node)?.status !== 'done') {
      if (own.source === 'real') await this.rehearse(node, place);
      else await this.execute(node);
    }
    signal?.removeEventListener('abort', stop);
    const other = this.others.get(node);
    if (other?.status !== 'done' || !other.answer) return;
    const { rehearsed, real } = sidesOf(own, other);
    const rules = rulesOf(this.session.setup.environment);
    this.set({ ...other, comparison: compareAnswers(rehearsed, real, rules) });
  }

  /** Both answers to a call, once they were compared. */
  pair(node: number): { tool: string; rehearsed: Answer; real: Answer; comparison: Comparison } | null {
    const other = this.others.get(node);
    if (!other?.answer || !other.comparison) return null;
    const place = this.placeOf(node);
    const sides = sidesOf(this.observationAt(place, node), other);
    return { tool: place.call.tool, ...sides, comparison: other.comparison };
  }

  /** Stops what is still running for a call. */
  cancel(node: number): void {
    this.running.get(node)?.abort();
  }

  /**
   * Executes the call that is open at a node of the session: the port of steps whose observations are real. Throws
   * `UserError` where it was not allowed, so that the step fails and can be tried again.
   */
  async executeOpen(node: number, signal: AbortSignal): Promise<CoreExecution> {
    const place = callOpenAt(this.session.node(node));
    if (!place) throw new RangeError(`no call is open at node ${node}`);
    const execution = await this.executeAt(place, signal);
    const { failure } = execution ?? { failure: { code: 'refused', message: notAllowed(place) } };
    if (failure?.code === 'refused') throw new UserError(failure.message, 'Step again to be asked again.');
    if (failure?.code === 'cancelled') throw new UserError(failure.message, 'Step again to execute it.');
    const { outcome, value, durationMs, raw } = execution!;
    return { outcome, value, durationMs, ...(raw !== undefined && { raw }) };
  }

  /** Executes a call at a place, for those who show the outcome elsewhere; null where the person said no. */
  async executeAt(place: PlacedCall, signal: AbortSignal) {
    const { executor, world } = await this.open();
    const { environment } = this.session.setup;
    const tool = environment.tools.find(({ name }) => name === place.call.tool);
    const asked = tool ?? { name: place.call.tool, readOnly: false };
    if (!(await executor.allow([asked], place.call))) return null;
    return world.execute(place, signal);
  }

  async close(): Promise<void> {
    for (const abort of this.running.values()) abort.abort();
    await this.leave();
  }

  private placeOf(node: number): CallPlace {
    const place = callAnsweredAt(this.session, node);
    if (!place) throw new RangeError(`no call was answered at node ${node}`);
    return place;
  }

  private observationAt({ turn, index }: CallPlace, node: number): Observation {
    return this.session.node(node).state.turns[turn - 1]!.calls[index]!.observation!;
  }

  private async rehearse(node: number, place: CallPlace): Promise<void> {
    await this.asking(node, 'rehearsed', async (signal) => {
      const ports = await this.host.ports(signal);
      const started = performance.now();
      const { observation } = await rehearseHere(place.at.state, place.index, ports, signal);
      if (!observation) return null;
      const { outcome, value, raw } = observation;
      const durationMs = performance.now() - started;
      return { status: 'done', answer: { outcome, value }, durationMs, ...(raw !== undefined && { raw }) };
    });
  }

  /** Runs one question about a call; a second one for the same call waits for nothing and does nothing. */
  private async asking(
    node: number,
    source: OtherAnswer['source'],
    ask: (signal: AbortSignal) => Promise<Partial<OtherAnswer> | null>,
  ): Promise<void> {
    if (this.running.has(node)) return;
    const abort = new AbortController();
    this.running.set(node, abort);
    const before = this.others.get(node);
    const empty = { answer: null, durationMs: null, failure: null, notes: [], comparison: null };
    const blank: OtherAnswer = { node, source, status: 'running', ...empty, surprise: null, unscored: null };
    this.set(blank);
    try {
      const found = await ask(abort.signal);
      // Where the person said no, what was there before is there again.
      if (found) this.set({ ...blank, ...found });
      else this.restore(blank, before);
    } catch (error) {
      if (abort.signal.aborted) this.restore(blank, before);
      // Whatever keeps a call from being made is shown at that call.
      else this.set({ ...blank, status: 'failed', failure: failureText(error) });
    } finally {
      this.running.delete(node);
    }
  }

  private restore(blank: OtherAnswer, before: OtherAnswer | undefined): void {
    const { node } = blank;
    this.others.delete(node);
    if (before && before.status !== 'running') this.set(before);
    else this.emit('change', node);
  }

  private set(other: OtherAnswer): void {
    this.others.set(other.node, other);
    this.emit('change', other.node);
  }

  /**
   * Adds the surprise of the real answer to what is shown: only on demand, since it takes the model's server. Never
   * rejects: where it cannot be had, that is said.
   */
  async score(node: number): Promise<void> {
    const other = this.others.get(node);
    if (other?.status !== 'done' || other.surprise || this.scoring.has(node)) return;
    const place = this.placeOf(node);
    const { real } = sidesOf(this.observationAt(place, node), other);
    const tell = (more: Pick<OtherAnswer, 'surprise' | 'unscored'>) => {
      const now = this.others.get(node);
      if (now?.status === 'done' && now.answer === other.answer) this.set({ ...now, ...more });
    };
    this.scoring.add(node);
    const abort = new AbortController();
    try {
      const { policy } = this.session.setup;
      if (scoredText(real).length > policy.contextLength * MAX_CHARACTERS_PER_TOKEN)
        return tell({ surprise: null, unscored: 'It is longer than the context of the model.' });
      const ports = await this.host.ports(abort.signal);
      const scorer = answerScorer(ports.policy);
      if (!scorer)
        return tell({
          surprise: null,
          unscored: 'This server gives no probabilities of text that stands there already.',
        });
      const prompt = await rehearsalPrompt(place.at.state, place.index, ports.render, abort.signal);
      tell({ surprise: await scorer(prompt, real, abort.signal), unscored: null });
    } catch (error) {
      tell({ surprise: null, unscored: reasonOf(error) });
    } finally {
      this.scoring.delete(node);
    }
  }

  /** The tools as the environment file names them now; others are begun where that has changed. */
  private async open(): Promise<{ executor: RealExecutor; world: World }> {
    const environment = await this.host.environment();
    const key = JSON.stringify(environment.executor ?? null);
    if (this.opened?.key === key) return this.opened;
    await this.leave();
    const executor = this.host.executorFor(environment);
    const canBegin = executor.isolated || environment.executor?.reset !== undefined;
    const world = new World(executor, this.session.setup.task.state, canBegin);
    this.opened = { key, executor, world };
    return this.opened;
  }

  private async leave(): Promise<void> {
    const { opened } = this;
    this.opened = null;
    await opened?.world.close();
  }
}

function sidesOf(own: Observation, { source, answer }: OtherAnswer): { rehearsed: Answer; real: Answer } {
  const stands = { outcome: own.outcome, value: own.value };
  return source === 'real' ? { rehearsed: stands, real: answer! } : { rehearsed: answer!, real: stands };
}

const failureText = (error: unknown) => errorText(failureOf(error));

function notAllowed({ call }: CallPlace): string {
  return `Not executed: you did not allow ${JSON.stringify(call.tool)}.`;
}
