/** One sentence and one button: what went wrong, or what to do first. */
import { el, fill, icon } from './dom';
import { button } from './toolkit';

export interface Notice {
  message: string;
  action?: { title: string; run: () => void };
}

/** The error bar. It is an alert, said once; the same error again does not say it again. */
export class ErrorBar {
  readonly element = el('div', { class: 'errorbar', role: 'alert', hidden: true });
  private shown = '';

  show(notice: Notice | null): void {
    const key = notice ? `${notice.message}\n${notice.action?.title}` : '';
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = notice === null;
    fill(this.element);
    if (!notice) return;
    this.element.append(icon('error'), el('span', 'message', notice.message));
    if (notice.action) this.element.append(actionButton(notice.action));
  }
}

export function emptyState({ message, action }: Notice): HTMLElement {
  return el('div', 'empty', el('p', {}, message), action && actionButton(action));
}

function actionButton({ title, run }: NonNullable<Notice['action']>): HTMLElement {
  return button({ label: title, onClick: run });
}
