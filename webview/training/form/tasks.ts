/** Which tasks are in a part: a list to tick, or the name of a file. A task is in one part only. */
import { el, fill, setText } from '../../common/dom';
import { printable } from '../../common/text';
import type { Field, FileView, FromTraining } from '../../common/training';
import { type Control, valueAt } from './field';

const PARTS = ['train', 'validation', 'test'];

export class TasksControl implements Control {
  readonly element: HTMLElement;
  readonly input = el('summary');
  private readonly list = el('ul');
  private readonly details: HTMLDetailsElement;
  private readonly part: string;
  private shown = '';

  constructor(
    field: Field,
    private readonly post: (message: FromTraining) => void,
  ) {
    this.part = field.path.at(-1)!;
    this.details = el('details', 'tasks', this.input, this.list);
    this.element = this.details;
  }

  update(value: unknown, file: FileView): void {
    const others = PARTS.filter((part) => part !== this.part).map((part) => ({
      part,
      ids: idsOf(valueAt(file.values, ['tasks', part])),
    }));
    const count = file.counts[this.part] ?? 0;
    const key = JSON.stringify([value, others, file.tasks, count]);
    if (key === this.shown) return;
    this.shown = key;
    setText(this.input, summary(value, count));
    const own = idsOf(value);
    const known = [...new Set([...file.tasks, ...own])];
    const focused = (document.activeElement as HTMLElement | null)?.id;
    if (typeof value === 'string') {
      fill(
        this.list,
        el('li', 'mute', 'The tasks are in a file of their own. To tick tasks here, take its name out.'),
      );
      return;
    }
    const rows = known.map((task) => {
      const other = others.find(({ ids }) => ids.includes(task));
      return this.row(task, own.includes(task), other?.part ?? null, file.tasks.includes(task));
    });
    const inPlace = Array.isArray(value) ? value.filter((one) => typeof one !== 'string').length : 0;
    fill(
      this.list,
      ...rows,
      inPlace > 0 &&
        el('li', 'mute', `${inPlace} more ${inPlace === 1 ? 'is' : 'are'} written in the file itself.`),
      known.length === 0 && el('li', 'mute', 'The environment has no tasks that could be ticked.'),
    );
    if (focused?.startsWith(`task-${this.part}-`)) document.getElementById(focused)?.focus();
  }

  private row(task: string, isIn: boolean, other: string | null, isKnown: boolean): HTMLElement {
    const id = `task-${this.part}-${task}`;
    const box = el('input', { type: 'checkbox', id, checked: isIn });
    box.addEventListener('change', () => this.post({ type: 'task', part: this.part, task, in: box.checked }));
    const note = !isKnown ? 'not in the environment' : other ? `in ${other}` : '';
    return el(
      'li',
      {},
      box,
      el('label', { for: id }, printable(task)),
      note && el('span', isKnown ? 'mute' : 'fail', note),
    );
  }
}

function idsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

function summary(value: unknown, count: number): string {
  if (typeof value === 'string') return `${printable(value)}, ${tasks(count)}`;
  if (!Array.isArray(value) || value.length === 0) return 'none';
  const ids = idsOf(value);
  return ids.length > 0 && ids.length <= 2 && ids.length === value.length
    ? ids.map(printable).join(', ')
    : tasks(value.length);
}

function tasks(count: number): string {
  return `${count} ${count === 1 ? 'task' : 'tasks'}`;
}
