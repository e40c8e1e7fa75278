/** Other runs whose curves are laid over this one's: each by a letter and a dash of its own. */
import { el, fill } from '../../common/dom';
import { printable } from '../../common/text';
import type { RunChoice } from '../../common/training';

export class Overlays {
  readonly element = el('details', 'overlays');
  private readonly list = el('ul');
  private readonly summary = el('summary', {}, 'Other Runs');
  /** Ids in the order in which they were chosen. */
  chosen: string[] = [];
  private shown = '';

  constructor(private readonly changed: (added: string | null) => void) {
    this.element.append(this.summary, this.list);
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && this.element.open) {
        this.element.open = false;
        this.summary.focus();
      }
    });
  }

  /** The letter of a run that is laid over: B, C, … as this run is A. */
  letterOf(run: string): string {
    return String.fromCharCode(66 + this.chosen.indexOf(run));
  }

  update(runs: readonly RunChoice[], own: string): void {
    const others = runs.filter(({ id }) => id !== own);
    const key = JSON.stringify([others, this.chosen]);
    if (key === this.shown) return;
    this.shown = key;
    this.chosen = this.chosen.filter((id) => others.some((run) => run.id === id));
    this.element.hidden = others.length === 0;
    const names = this.chosen.map(
      (id) => `${this.letterOf(id)} ${printable(others.find((run) => run.id === id)!.name)}`,
    );
    this.summary.textContent = names.length ? `With ${names.join(', ')}` : 'Other Runs';
    fill(this.list, ...others.map((run) => this.row(run)));
  }

  private row({ id, name, variant, step, state }: RunChoice): HTMLElement {
    const at = this.chosen.indexOf(id);
    const box = el('input', { type: 'checkbox', checked: at >= 0, id: `over-${id}` });
    box.disabled = at < 0 && this.chosen.length >= 4;
    box.addEventListener('change', () => {
      this.chosen = box.checked ? [...this.chosen, id] : this.chosen.filter((other) => other !== id);
      this.changed(box.checked ? id : null);
      this.list.querySelector<HTMLElement>(`[id="over-${id}"]`)?.focus();
    });
    const label = el(
      'label',
      { for: `over-${id}` },
      el('b', {}, at >= 0 ? `${this.letterOf(id)} ` : '', printable(name)),
      el('span', 'mute', ` ${variant}, step ${step}, ${state}`),
    );
    return el('li', {}, box, label);
  }
}
