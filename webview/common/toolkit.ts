/**
 * The only module that names `@vscode/webview-ui-toolkit`. It registers the components that are used and makes
 * them; `toolkit.css` beside it brings their looks up to today's themes.
 */
import {
  type Button,
  provideVSCodeDesignSystem,
  type RadioGroup,
  vsCodeButton,
  vsCodeDivider,
  vsCodeLink,
  vsCodeRadio,
  vsCodeRadioGroup,
} from '@vscode/webview-ui-toolkit';
import './toolkit.css';
import { type Child, el, icon } from './dom';

export function registerToolkit(): void {
  provideVSCodeDesignSystem().register(
    vsCodeButton(),
    vsCodeDivider(),
    vsCodeLink(),
    vsCodeRadio(),
    vsCodeRadioGroup(),
  );
}

export interface ButtonOptions {
  label: string;
  /** Codicon in front of the label. */
  icon?: string;
  /** Key shown behind the label. */
  key?: string;
  look?: 'primary' | 'secondary' | 'quiet';
  /** Name for screen readers where the label alone does not say enough. */
  name?: string;
  onClick: () => void;
}

/**
 * A button that is disabled by `setEnabled` and never by `disabled`: a control that has the focus must keep it
 * while a step runs, and its tooltip says why it does nothing.
 */
export function button(options: ButtonOptions): HTMLElement {
  const { label, key, look = 'secondary', name, onClick } = options;
  const element = document.createElement('vscode-button') as Button;
  element.setAttribute('appearance', look === 'primary' ? 'primary' : 'secondary');
  element.className = look;
  if (options.icon) {
    const start = icon(options.icon);
    start.slot = 'start';
    element.append(start);
  }
  if (label) element.append(el('span', 'label', label));
  else element.classList.add('bare');
  if (key) element.append(el('kbd', {}, key));
  element.setAttribute('aria-label', name ?? (key ? `${label}, ${key}` : label));
  element.addEventListener('click', () => {
    if (element.getAttribute('aria-disabled') !== 'true') onClick();
  });
  return element;
}

/** Enables a button, or disables it and says why in its tooltip. */
export function setEnabled(element: HTMLElement, enabled: boolean, tooltip: string): void {
  if (element.getAttribute('aria-disabled') !== String(!enabled))
    element.setAttribute('aria-disabled', String(!enabled));
  if (element.title !== tooltip) element.title = tooltip;
}

export function divider(): HTMLElement {
  return el('vscode-divider' as 'div', { role: 'presentation' });
}

/** A tag of our own: the template of the toolkit's has a style attribute, which a webview's CSP refuses. */
export function tag(text: string): HTMLElement {
  return el('span', 'chip', text);
}

/** A link that acts inside the panel. */
export function link(label: Child, onClick: () => void): HTMLElement {
  const element = el('vscode-link' as 'a', { href: '#' }, label);
  element.addEventListener('click', (event) => {
    event.preventDefault();
    event.stopPropagation();
    onClick();
  });
  return element;
}

/** Radio buttons in a row; `onChange` gets the value chosen. */
export function choice(
  name: string,
  options: readonly { value: string; label: string }[],
  value: string,
  onChange: (value: string) => void,
): HTMLElement {
  const group = el('vscode-radio-group' as 'span', { 'aria-label': name, orientation: 'horizontal' });
  for (const option of options) {
    const checked = option.value === value;
    group.append(el('vscode-radio' as 'div', { name, value: option.value, checked }, option.label));
  }
  // The radio buttons' own events do not leave the group; it tells of them itself.
  group.addEventListener('change', ({ target }) => {
    if (target === group) onChange((group as HTMLElement as RadioGroup).value);
  });
  return group;
}

/** Checks the radio button with this value. */
export function setChoice(group: HTMLElement, value: string): void {
  if ((group as RadioGroup).value !== value) (group as RadioGroup).value = value;
}
