/** Small helpers over the DOM. Text always goes in as text nodes: nothing here ever parses HTML. */

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined>;

/** An element with attributes; `true` sets an empty attribute, `false` and `undefined` none. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes | string = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const all = typeof attributes === 'string' ? { class: attributes } : attributes;
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  fill(element, ...children);
  return element;
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...children.filter((child) => child instanceof Node || typeof child === 'string'));
}

/** A codicon. Decoration only: what it means is said in words beside it or in the control's name. */
export function icon(name: string): HTMLElement {
  return el('span', { class: `codicon codicon-${name}`, 'aria-hidden': 'true' });
}

/** Sets text only where it differs, so that a selection survives and nothing is laid out for nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element: Element, name: string, value: string | null): void {
  if (element.getAttribute(name) === value) return;
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/**
 * Moves the focus, and the one tab stop, among the rows of a list by arrow keys, Home and End. False where no row
 * has the focus or the key is another.
 */
export function moveAmong(rows: readonly HTMLElement[], key: string): boolean {
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const target = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: rows.length - 1 }[key];
  if (at < 0 || target === undefined) return false;
  const next = rows[Math.min(Math.max(target, 0), rows.length - 1)]!;
  rows[at]!.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  return true;
}

/** Runs `work` at most once a frame, however often it is asked for. */
export function oncePerFrame(work: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}
