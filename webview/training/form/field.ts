/** One setting: its control, what it means in one sentence, its default, and what is wrong with it. */
import { type Child, el, fill, icon, setAttribute, setText } from '../../common/dom';
import { printable } from '../../common/text';
import { button } from '../../common/toolkit';
import type { Field, FileProblem, FileView, FromTraining } from '../../common/training';
import { stepped } from './stepped';
import { TasksControl } from './tasks';

export interface FieldElement {
  element: HTMLElement;
  update(file: FileView): void;
  setProblems(problems: readonly FileProblem[]): void;
}

/** A control: an element, and the value of the file put into it. */
export interface Control {
  element: HTMLElement;
  /** What the label names and what is told to be wrong. */
  input: HTMLElement;
  /** @param value undefined where the file says nothing */
  update(value: unknown, file: FileView): void;
}

export function fieldElement(field: Field, post: (message: FromTraining) => void): FieldElement {
  const id = `field-${field.path.join('-')}`;
  const control = controlOf(field, post);
  const { input } = control;
  input.id = id;
  input.setAttribute('aria-describedby', `${id}-about ${id}-problem`);
  const reset = button({
    label: '',
    icon: 'discard',
    look: 'quiet',
    name: `${field.label}: back to the default`,
    onClick: () => {
      post({ type: 'set', path: field.path });
      input.focus();
    },
  });
  reset.title = `Back to the default${field.default === null ? '' : `, ${shown(field.default)}`}`;
  const problem = el('p', { class: 'problem', id: `${id}-problem`, role: 'status' });
  const element = el(
    'div',
    { class: `field ${field.kind}`, 'data-path': field.path.join('.') },
    el('label', { for: id }, field.label),
    el('div', 'control', control.element, reset),
    el('p', { class: 'about mute', id: `${id}-about` }, ...withCode(field.description)),
    problem,
  );
  return {
    element,
    update(file) {
      const value = valueAt(file.values, field.path);
      control.update(value, file);
      element.classList.toggle('given', value !== undefined);
      reset.style.visibility =
        value === undefined || field.kind === 'tasks' || field.kind === 'environment' ? 'hidden' : '';
    },
    setProblems(problems) {
      const isWrong = problems.some(({ severity }) => severity === 'error');
      setAttribute(input, 'aria-invalid', isWrong ? 'true' : null);
      element.classList.toggle('wrong', isWrong);
      problem.className = `problem ${isWrong ? 'fail' : 'warn'}`;
      fill(
        problem,
        ...problems.flatMap(({ message }): Child[] => [
          icon(isWrong ? 'error' : 'warning'),
          el('span', {}, printable(message)),
        ]),
      );
    },
  };
}

function controlOf(field: Field, post: (message: FromTraining) => void): Control {
  const set = (value: unknown) =>
    post(value === undefined ? { type: 'set', path: field.path } : { type: 'set', path: field.path, value });
  switch (field.kind) {
    case 'tasks':
      return new TasksControl(field, post);
    case 'choice':
      return choiceControl(field, () => field.options ?? [], set);
    case 'environment':
      return choiceControl(field, ({ environments }) => environments, set);
    case 'model':
      return choiceControl(field, ({ models }) => models, set, "the server's first");
    case 'flag':
      return flagControl(field, set);
    default:
      return textControl(field, set);
  }
}

/** A list, whose value is also shown where it is not in it. */
function choiceControl(
  field: Field,
  options: (file: FileView) => readonly string[],
  set: (value: unknown) => void,
  absent = '',
): Control {
  const select = el('select');
  let offered = '';
  select.addEventListener('change', () => set(select.value === '' ? undefined : select.value));
  return {
    element: select,
    input: select,
    update(value, file) {
      const given = value === undefined ? [] : [typeof value === 'string' ? value : JSON.stringify(value)];
      const all = [...new Set([...options(file), ...given])];
      const none = field.default === null;
      const key = JSON.stringify([none, all]);
      if (key !== offered)
        fill(
          select,
          none && el('option', { value: '' }, absent || 'choose…'),
          ...all.map((one) =>
            el('option', { value: one }, printable(one) + (one === field.default ? ' (default)' : '')),
          ),
        );
      offered = key;
      select.value = given[0] ?? (none ? '' : String(field.default));
    },
  };
}

function flagControl(field: Field, set: (value: unknown) => void): Control {
  const box = el('input', { type: 'checkbox' });
  const says = el('span', 'mute');
  box.addEventListener('change', () => set(box.checked));
  return {
    element: el('span', 'flagbox', box, says),
    input: box,
    update(value) {
      box.checked = (value ?? field.default) === true;
      setText(says, `${box.checked ? 'yes' : 'no'}${value === undefined ? ' (default)' : ''}`);
    },
  };
}

function textControl(field: Field, set: (value: unknown) => void): Control {
  const isNumber = field.kind !== 'text';
  const input = el('input', {
    type: 'text',
    inputmode: isNumber ? 'decimal' : undefined,
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: field.default === null ? '' : shown(field.default),
  });
  let last = '';
  const send = () => {
    const text = input.value.trim();
    if (text === last) return;
    last = text;
    // What is no number goes into the file as it is: its diagnostic says what is wrong with it.
    const number = Number(text);
    set(text === '' ? undefined : isNumber && Number.isFinite(number) ? number : text);
  };
  input.addEventListener('change', send);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') send();
    if (isNumber && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      const next = stepped(field, Number(input.value.trim() || field.default), event.key === 'ArrowUp');
      if (next === null) return;
      input.value = shown(next);
      event.preventDefault();
      send();
    }
  });
  return {
    element: input,
    input,
    update(value) {
      // Not under the hands of whoever is typing; what was sent already may be undone.
      const isTyping = document.activeElement === input && input.value.trim() !== last;
      last = value === undefined ? '' : shown(value);
      if (!isTyping) input.value = last;
    },
  };
}

export function valueAt(values: unknown, path: readonly string[]): unknown {
  let value = values;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `code` in backticks. */
function withCode(text: string): Child[] {
  return text.split('`').map((part, i) => (i % 2 ? el('code', {}, part) : part));
}
