/** Who this run is and where it stands, with what can be done about it. */
import type { RunState, RunStatus } from '../../../src/core/training/run.types';
import { el, fill, icon, setText } from '../../common/dom';
import { about } from '../../common/format';
import { printable } from '../../common/text';
import { button } from '../../common/toolkit';
import type { FromTraining, RunFacts } from '../../common/training';

const ACTIVE: ReadonlySet<RunState> = new Set(['queued', 'starting', 'running', 'stopping']);

export function isActive(state: RunState): boolean {
  return ACTIVE.has(state);
}

const LOOKS: Record<RunState, { icon: string; look: string }> = {
  queued: { icon: 'clock', look: 'mute' },
  starting: { icon: 'loading', look: 'mute' },
  running: { icon: 'circle-filled', look: 'pass live' },
  stopping: { icon: 'debug-stop', look: 'mute' },
  stopped: { icon: 'debug-stop', look: 'mute' },
  done: { icon: 'pass', look: 'pass' },
  failed: { icon: 'error', look: 'fail' },
  'needs key': { icon: 'key', look: 'warn' },
};

export class Head {
  readonly element = el('header', 'runhead');
  private readonly name = el('h1');
  private readonly state = el('div', 'state');
  private readonly facts = el('dl', 'facts');
  private readonly values = new Map<string, HTMLElement>();
  private readonly bar = el('span', { class: 'progress', 'aria-hidden': 'true' }, el('i'));
  private readonly steps = el('span');
  private readonly timeName = el('dt');
  private readonly message = el('p', 'message');
  private readonly stop: HTMLElement;
  private readonly resume: HTMLElement;

  constructor(post: (message: FromTraining) => void) {
    this.stop = button({
      label: 'Stop',
      icon: 'debug-stop',
      name: 'Stop: keeps what was learned',
      onClick: () => post({ type: 'stop' }),
    });
    this.stop.title = 'Stop now; the steps that were learned are kept, and Resume goes on';
    this.resume = button({
      label: 'Resume',
      icon: 'debug-continue',
      look: 'primary',
      onClick: () => post({ type: 'resume' }),
    });
    const more = button({
      label: 'Export Rollouts…',
      icon: 'export',
      look: 'quiet',
      onClick: () => post({ type: 'exportRollouts' }),
    });
    for (const name of ['Variant', 'Model', 'Environment', 'Step', 'Time left']) this.add(name);
    this.values.get('Step')!.append(this.steps, this.bar);
    this.element.append(
      el('div', 'who', this.name, this.state),
      this.facts,
      el('div', 'buttons', more, this.stop, this.resume),
      this.message,
    );
  }

  update(status: RunStatus, facts: RunFacts): void {
    const { name, state, phase, step, steps, secondsLeft, message, variant, environment } = status;
    const { icon: mark, look } = LOOKS[state];
    setText(this.name, printable(name));
    this.name.title = `${printable(name)} (${status.id})`;
    fill(
      this.state,
      el('span', look, icon(mark)),
      el('span', {}, state === 'running' && phase ? `${state}: ${phase}` : state),
    );
    this.set('Variant', variant);
    this.set(
      'Model',
      `${origin(status)}, ${facts.weights === 'lora' ? 'adapter' : 'all weights'}, on ${printable(facts.place)}`,
    );
    this.set(
      'Environment',
      `${printable(environment)}, ${facts.tasks.train} tasks, groups of ${facts.groupSize}`,
    );
    setText(this.steps, `${step} of ${steps}`);
    (this.bar.firstChild as HTMLElement).style.width = `${(100 * step) / Math.max(steps, 1)}%`;
    setText(this.timeName, isActive(state) ? 'Time left' : 'Took');
    this.set('Time left', isActive(state) ? timeLeft(secondsLeft) : took(status));
    setText(this.message, printable(message));
    this.message.hidden = !message;
    this.message.className = `message ${state === 'failed' ? 'fail' : 'mute'}`;
    this.stop.hidden = !isActive(state);
    this.stop.setAttribute('aria-disabled', String(state === 'stopping'));
    this.resume.hidden = isActive(state) || state === 'done';
  }

  private set(name: string, text: string): void {
    const value = this.values.get(name)!;
    setText(value, text);
    value.title = text;
  }

  private add(name: string): void {
    const value = el('dd');
    this.values.set(name, value);
    const term = name === 'Time left' ? this.timeName : el('dt', {}, name);
    this.facts.append(el('div', {}, term, value));
  }
}

/** What the run starts from. */
function origin({ model, parent }: RunStatus): string {
  return printable(parent ? `${model}, from step ${parent.step} of ${parent.run}` : model);
}

function took({ started, ended }: RunStatus): string {
  return started && ended ? about((Date.parse(ended) - Date.parse(started)) / 1000) : '–';
}

function timeLeft(seconds: number | null): string {
  return seconds === null ? 'after the first step' : about(seconds);
}
