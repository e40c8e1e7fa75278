/** The head strip: what is rehearsed, on which model, and what it has cost so far. */
import type { SessionView } from '../../src/core/rehearsal/view.types';
import { el, icon, setText } from '../common/dom';
import { duration, whole } from '../common/format';
import type { Head } from '../common/messages';
import { printable } from '../common/text';
import { tag } from '../common/toolkit';

/** Share of the context below which what is left is a warning. */
const LOW = 0.1;

export class Strip {
  readonly element = el('dl', { class: 'strip', 'aria-label': 'Session' });
  private readonly values = new Map<string, HTMLElement>();
  private readonly meter = el('span', { class: 'meter', 'aria-hidden': 'true' }, el('i'));
  private readonly low = icon('warning');
  private readonly left = el('span');
  private contextLength = 0;

  constructor() {
    this.add('Environment', 'wide');
    this.add('Task', 'wide grow');
    this.add('Model');
    this.add('Tokens', 'num');
    this.add('Context left', 'num').append(this.low, this.left, this.meter);
    // The session file has no times: what ran before it was opened here is not known.
    this.add('Time here', 'num').title = 'Time it has run since it was opened in this window';
  }

  setSession(view: SessionView): void {
    const { environment, task, model, tier, contextLength } = view;
    this.contextLength = contextLength;
    for (const [name, text] of [
      ['Environment', environment],
      ['Task', task],
    ] as const) {
      setText(this.values.get(name)!, printable(text));
      this.values.get(name)!.title = printable(text);
    }
    this.values.get('Model')!.replaceChildren(el('span', 'name', printable(model)), tag(tier));
    this.values.get('Model')!.title = `${printable(model)}, ${tier}`;
  }

  update({ tokens, contextUsed, seconds }: Head): void {
    setText(this.values.get('Tokens')!, whole(tokens));
    setText(this.values.get('Time here')!, duration(seconds));
    const left = Math.max(this.contextLength - contextUsed, 0);
    const share = this.contextLength > 0 ? left / this.contextLength : 0;
    setText(this.left, `${whole(left)} of ${whole(this.contextLength)}`);
    this.low.hidden = share >= LOW;
    this.meter.classList.toggle('low', share < LOW);
    (this.meter.firstChild as HTMLElement).style.width = `${share * 100}%`;
  }

  private add(name: string, look = ''): HTMLElement {
    const value = el('dd');
    this.values.set(name, value);
    this.element.append(el('div', `item ${look}`, el('dt', {}, name), value));
    return value;
  }
}
