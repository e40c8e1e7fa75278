/** The page over a training file: every setting as a field, what a run would cost, and Launch. */
import { el, fill, setText } from '../../common/dom';
import { ErrorBar } from '../../common/notice';
import { printable } from '../../common/text';
import { button, link, setEnabled } from '../../common/toolkit';
import type {
  EstimateView,
  FieldGroup,
  FileView,
  FromTraining,
  Notice,
  ToTraining,
} from '../../common/training';
import { estimateLines } from './estimate';
import { type FieldElement, fieldElement } from './field';

export class FilePage {
  readonly element = el('div', 'page file');
  private readonly notice = new ErrorBar();
  private readonly title = el('h1');
  private readonly summary = el('p', 'mute');
  private readonly launch: HTMLElement;
  private readonly measure: HTMLElement;
  private readonly cost = el('div', { class: 'cost', role: 'status' });
  private readonly problems = el('div', { class: 'problems', role: 'status' });
  private readonly form = el('form');
  private readonly fields = new Map<string, FieldElement>();
  private made = '';
  private values = '';
  private estimate: EstimateView | null = null;

  constructor(private readonly post: (message: FromTraining) => void) {
    this.launch = button({
      label: 'Launch',
      icon: 'play',
      look: 'primary',
      onClick: () => post({ type: 'launch' }),
    });
    this.measure = button({
      label: 'Estimate',
      icon: 'dashboard',
      onClick: () => post({ type: 'estimate' }),
    });
    this.measure.title = 'Measures one small step on the server: time, tokens and memory';
    this.form.addEventListener('submit', (event) => event.preventDefault());
    this.element.append(
      el(
        'header',
        'filehead',
        el('div', 'who', this.title, this.summary),
        el(
          'div',
          'buttons',
          link('Edit as Text', () => post({ type: 'text' })),
          this.measure,
          this.launch,
        ),
        this.cost,
      ),
      this.notice.element,
      this.problems,
      this.form,
    );
  }

  receive(message: ToTraining): void {
    if (message.type === 'file') this.show(message.file);
    else if (message.type === 'estimate') this.showEstimate(message.estimate);
    else if (message.type === 'notice') this.fail(message.notice);
  }

  fail(notice: Notice | null): void {
    const { message = '', action } = notice ?? {};
    const run = action && { title: action.title, run: () => this.post({ type: 'action', id: action.id }) };
    this.notice.show(notice && { message: printable(message), ...(run && { action: run }) });
  }

  private show(file: FileView): void {
    setText(this.title, printable(file.name));
    setText(this.summary, printable(file.summary));
    setEnabled(this.launch, file.launchable, file.launchable ? 'Start the run' : printable(file.summary));
    setEnabled(this.measure, file.launchable, this.measure.title);
    // Fields stay where they are while values change: whoever types in one keeps the focus.
    const made = JSON.stringify(file.groups);
    if (made !== this.made) this.make(file.groups);
    this.made = made;
    for (const field of this.fields.values()) field.update(file);
    this.showProblems(file);
    const values = JSON.stringify(file.values);
    if (this.estimate?.state === 'measured' && this.values !== '' && values !== this.values)
      this.cost.classList.add('old');
    this.values = values;
  }

  private make(groups: readonly FieldGroup[]): void {
    this.fields.clear();
    const sections = groups.map(({ title, description, folded, fields }) => {
      const elements = fields.map((field) => {
        const element = fieldElement(field, this.post);
        this.fields.set(field.path.join('.'), element);
        return element.element;
      });
      const body = el('div', 'fields', ...elements);
      const about = description && el('p', 'mute about', description);
      if (!folded) return el('section', { 'aria-label': title }, el('h2', {}, title), about, body);
      return el(
        'details',
        {},
        el('summary', {}, el('h2', {}, title), el('span', 'mute', ` ${description}`)),
        body,
      );
    });
    fill(this.form, ...sections);
  }

  /** What belongs to no field stands on top; a field's own stands at the field, whose group is opened. */
  private showProblems({ problems }: FileView): void {
    const own = problems.filter(({ path }) => ![...this.fields.keys()].some((key) => covers(key, path)));
    fill(
      this.problems,
      ...own.map(({ message, severity }) =>
        el('p', severity === 'error' ? 'fail' : 'warn', printable(message)),
      ),
    );
    for (const [key, field] of this.fields) {
      const mine = problems.filter(({ path }) => covers(key, path));
      if (mine.some(({ severity }) => severity === 'error'))
        field.element.closest('details')?.setAttribute('open', '');
      field.setProblems(mine);
    }
  }

  private showEstimate(estimate: EstimateView): void {
    this.estimate = estimate;
    this.cost.classList.remove('old');
    fill(this.cost, ...estimateLines(estimate));
    setEnabled(this.measure, estimate.state !== 'measuring', this.measure.title);
  }
}

/** Whether what is wrong at a path is wrong with the field of this key. */
function covers(key: string, path: readonly string[]): boolean {
  const at = path.join('.');
  return at === key || at.startsWith(`${key}.`);
}
