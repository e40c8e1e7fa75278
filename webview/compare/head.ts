/** The head of the page: what is compared, how far it is, and what can be done with all of it. */
import type { ComparisonView } from '../../src/core/fidelity/view.types';
import type { CompareHead, FromCompare } from '../common/compare';
import { el, fill, icon, setText } from '../common/dom';
import { ErrorBar } from '../common/notice';
import { printable } from '../common/text';
import { button, choice, setChoice, setEnabled } from '../common/toolkit';

export class Head {
  readonly element: HTMLElement;
  private readonly what = el('p', 'mute what');
  private readonly models = el('span', { class: 'modelchoice', hidden: true });
  private choice: HTMLElement | null = null;
  private readonly progress = el('div', { class: 'progress', hidden: true });
  private readonly words = el('span', 'words');
  private readonly meter: HTMLElement;
  private readonly stale = el('div', { class: 'stale', role: 'status', hidden: true });
  private readonly staleText = el('span', 'message');
  private readonly error = new ErrorBar();
  private readonly again: HTMLElement;
  private readonly add: HTMLElement;
  private readonly exports: HTMLElement[];
  private shown: string[] = [];

  constructor(
    private readonly post: (message: FromCompare) => void,
    private readonly chooseSide: (side: number) => void,
  ) {
    this.again = button({
      label: 'Compare Again',
      icon: 'refresh',
      look: 'primary',
      onClick: () => post({ type: 'again' }),
    });
    this.add = button({ label: 'Add Model…', icon: 'add', onClick: () => post({ type: 'addModel' }) });
    this.exports = (['json', 'junit'] as const).map((format) =>
      button({
        label: format === 'json' ? 'JSON' : 'JUnit',
        icon: 'export',
        name: format === 'json' ? 'Export as JSON Lines' : 'Export as a JUnit file',
        onClick: () => post({ type: 'export', format }),
      }),
    );
    this.meter = el('i', {});
    const cancel = button({ label: 'Cancel', onClick: () => post({ type: 'cancel' }) });
    this.progress.append(
      el('span', { class: 'track', 'aria-hidden': 'true' }, this.meter),
      this.words,
      cancel,
    );
    this.stale.append(icon('history'), this.staleText);
    const title = el('div', 'names', el('h1', {}, 'Rehearsed and real'), this.what);
    const actions = el('div', 'actions', this.models, ...this.exports, this.add, this.again);
    this.element = el(
      'header',
      {},
      el('div', 'bar', title, actions),
      this.progress,
      this.stale,
      this.error.element,
    );
  }

  setView({ environment, what, created, sides }: ComparisonView, side: number): void {
    const models = sides.map(({ model }) => model);
    const when = new Date(created).toLocaleString();
    setText(this.what, printable(`${environment}, ${what}; ${models.join(', ') || 'no model yet'}; ${when}`));
    this.showModels(models, side);
  }

  update(head: CompareHead): void {
    const isRunning = head.status === 'running';
    this.progress.hidden = !isRunning && head.status !== 'cancelled';
    this.progress.classList.toggle('still', !isRunning);
    setText(
      this.words,
      isRunning
        ? printable(head.progress || 'Connecting')
        : 'Cancelled: what was compared until then is shown',
    );
    this.meter.style.width = `${Math.round(100 * (head.share ?? (isRunning ? 0.02 : 1)))}%`;
    this.stale.hidden = head.stale === null;
    setText(this.staleText, printable(head.stale ?? ''));
    setEnabled(
      this.again,
      !isRunning,
      isRunning ? 'It is running' : 'Rehearses the same calls again, with the environment as it is now',
    );
    setEnabled(this.add, head.noModel === null, head.noModel ?? 'Another model on the same calls');
    for (const one of this.exports)
      setEnabled(
        one,
        !isRunning,
        isRunning ? 'Wait until it is done' : 'The same as rehearsal compare writes',
      );
    const { error } = head;
    const action = error?.action && {
      title: error.action.title,
      run: () => this.post({ type: 'action', id: error.action!.id }),
    };
    this.error.show(error ? { message: printable(error.message), ...(action && { action }) } : null);
  }

  /** An error of the page itself. */
  fail(message: string): void {
    this.error.show({ message });
  }

  private showModels(models: readonly string[], side: number): void {
    this.models.hidden = models.length < 2;
    if (models.join('\n') !== this.shown.join('\n')) {
      this.shown = [...models];
      const options = models.map((model, i) => ({ value: String(i), label: printable(model) }));
      this.choice = choice('Figures of the model', options, String(side), (value) =>
        this.chooseSide(Number(value)),
      );
      this.choice.className = 'segments';
      fill(this.models, el('span', 'mute', 'Figures of'), this.choice);
    }
    if (this.choice && models.length > 1) setChoice(this.choice, String(side));
  }
}
