/** The step buttons, their keys, and what the session is doing. */

import { el, setText } from '../common/dom';
import type { FromSession, Head } from '../common/messages';
import { button, setEnabled } from '../common/toolkit';

type Step = Extract<FromSession, { type: 'step' }>['step'];

interface StepButton {
  step: Step;
  label: string;
  icon: string;
  /** As shown. */
  key: string;
  /** As `keyOf` writes it. */
  press: string;
  title: string;
}

// The keys are the debugger's own; Back and Restart have none there that a browser leaves free.
const STEPS: readonly (StepButton | null)[] = [
  {
    step: 'token',
    label: 'Token',
    icon: 'debug-step-into',
    key: 'F11',
    press: 'F11',
    title: 'Step one token',
  },
  {
    step: 'output',
    label: 'Output',
    icon: 'debug-step-over',
    key: 'F10',
    press: 'F10',
    title: 'Step one output',
  },
  {
    step: 'turn',
    label: 'Turn',
    icon: 'debug-step-out',
    key: '⇧F11',
    press: 'Shift+F11',
    title: 'Step one turn',
  },
  null,
  {
    step: 'continue',
    label: 'Continue',
    icon: 'debug-continue',
    key: 'F5',
    press: 'F5',
    title: 'To the next breakpoint, or the end',
  },
  {
    step: 'pause',
    label: 'Pause',
    icon: 'debug-pause',
    key: 'F6',
    press: 'F6',
    title: 'Stop between two tokens',
  },
  null,
  {
    step: 'back',
    label: 'Back',
    icon: 'debug-step-back',
    key: 'Alt F11',
    press: 'Alt+F11',
    title: 'Undo the last step',
  },
  {
    step: 'restart',
    label: 'Restart',
    icon: 'debug-restart',
    key: '⇧Alt F11',
    press: 'Shift+Alt+F11',
    title: 'The task again from its first token; this branch is kept',
  },
  {
    step: 'stop',
    label: 'Stop',
    icon: 'debug-stop',
    key: '⇧F5',
    press: 'Shift+F5',
    title: 'End the debug session; what was sampled is kept',
  },
];

/** Steps whose keys are shown only where there is room to spare. */
const MINOR: ReadonlySet<Step> = new Set(['back', 'restart', 'stop']);

/** Why a step cannot be taken now, or null where it can. */
export function refusal(step: Step, head: Head): string | null {
  const running = head.status === 'running';
  switch (step) {
    case 'stop':
      return null;
    case 'pause':
      return running ? null : 'Nothing is running';
    case 'back':
      return running ? 'Pause first' : head.canStepBack ? null : 'This is the start';
    case 'restart':
      return running ? 'Pause first' : head.tokens > 0 ? null : 'Nothing has been sampled yet';
    default:
      if (running) return 'Pause first';
      return head.status === 'ended' ? 'The task has ended; choose an alternative, or Restart' : null;
  }
}

export class Steps {
  readonly element = el('div', { class: 'steps', role: 'group', 'aria-label': 'Steps' });
  private readonly buttons = new Map<Step, HTMLElement>();
  private readonly status = el('div', 'status');
  private readonly dot = el('span', { class: 'dot', 'aria-hidden': 'true' });
  private readonly reason = el('span', 'reason');
  private head: Head | null = null;

  constructor(private readonly post: (message: FromSession) => void) {
    for (const step of STEPS) this.element.append(step ? this.buttonOf(step) : el('span', 'gapv'));
    this.status.append(this.dot, this.reason);
    this.element.append(this.status);
  }

  update(head: Head): void {
    this.head = head;
    for (const step of STEPS) {
      if (!step) continue;
      const why = refusal(step.step, head);
      setEnabled(
        this.buttons.get(step.step)!,
        why === null,
        `${step.title} (${step.key})${why ? `. ${why}` : ''}`,
      );
    }
    this.status.classList.toggle('running', head.status === 'running');
    setText(this.reason, head.reason);
    this.reason.title = head.reason;
  }

  /** Handles the keys of the steps: true where it was one, also when the step cannot be taken now. */
  press(event: KeyboardEvent): boolean {
    const pressed = keyOf(event);
    const step = STEPS.find((other) => other?.press === pressed);
    if (!step) return false;
    // VS Code hears keys of a webview as well: what is not kept from it would step twice.
    if (!event.repeat || step.step === 'token' || step.step === 'back') this.take(step.step);
    return true;
  }

  private take(step: Step): void {
    if (this.head && refusal(step, this.head) === null) this.post({ type: 'step', step });
  }

  private buttonOf({ step, label, icon, key, title }: StepButton): HTMLElement {
    const look = step === 'token' ? 'primary' : 'secondary';
    const element = button({ label, icon, key, look, onClick: () => this.take(step) });
    element.dataset.step = step;
    element.classList.toggle('minor', MINOR.has(step));
    element.setAttribute('aria-label', `${label}, ${title}`);
    setEnabled(element, false, title);
    this.buttons.set(step, element);
    return element;
  }
}

function keyOf({ key, altKey, shiftKey, ctrlKey, metaKey }: KeyboardEvent): string {
  return [ctrlKey && 'Ctrl', metaKey && 'Meta', shiftKey && 'Shift', altKey && 'Alt', key]
    .filter(Boolean)
    .join('+');
}
