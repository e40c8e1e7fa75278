/** The keyboard among tokens: one tab stop for each output, arrow keys inside. */
import type { Column } from './column';
import { OutputElement } from './output';
import type { TurnElement } from './turn';

export interface KeyboardHost {
  column: Column;
  focusBranches(): void;
  nextHeat(): void;
}

/** Handles a key pressed anywhere in the panel; true where it was one of these. */
export function tokenKey(event: KeyboardEvent, host: KeyboardHost): boolean {
  if (event.altKey || event.metaKey) return false;
  if (!event.ctrlKey && !event.shiftKey) {
    const letter = event.key.toLowerCase();
    if (letter === 'b') host.focusBranches();
    if (letter === 'h') host.nextHeat();
    if (letter === 'b' || letter === 'h') return true;
  }
  const span = event.target as HTMLElement;
  const turn = turnOf(span, host.column);
  if (event.ctrlKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown') && turn) {
    toTurn(host.column, turn, event.key === 'ArrowUp' ? -1 : 1);
    return true;
  }
  const output = span.classList.contains('t') ? OutputElement.of(span) : undefined;
  return output ? tokenPress(event, output, output.placeOf(span), host.column, turn) : false;
}

function tokenPress(
  event: KeyboardEvent,
  output: OutputElement,
  place: number,
  column: Column,
  turn: TurnElement | undefined,
): boolean {
  const last = output.tokens.length - 1;
  const go = (to: number) => column.focusToken(output, Math.min(Math.max(to, 0), last));
  if (event.ctrlKey) {
    if (event.key !== 'Home' && event.key !== 'End') return false;
    const outputs = column.outputs.filter(({ tokens }) => tokens.length > 0);
    const target = event.key === 'Home' ? outputs[0]! : outputs[outputs.length - 1]!;
    column.focusToken(target, event.key === 'Home' ? 0 : target.tokens.length - 1);
    return true;
  }
  switch (event.key) {
    case 'ArrowLeft':
      go(place - 1);
      return true;
    case 'ArrowRight':
      go(place + 1);
      return true;
    case 'ArrowUp':
      go(onNextLine(output.spans, place, -1));
      return true;
    case 'ArrowDown':
      go(onNextLine(output.spans, place, 1));
      return true;
    case 'Home':
      go(0);
      return true;
    case 'End':
      go(last);
      return true;
    case 'Enter':
      column.openCard(output, place);
      return true;
    case 'Escape':
      column.float.hide(true);
      return true;
    case ' ':
      turn?.toggle();
      turn?.focusFold();
      return true;
    default:
      return false;
  }
}

/** The token on the line above or below that is nearest to where this one stands. */
function onNextLine(spans: readonly HTMLElement[], from: number, step: 1 | -1): number {
  const start = spans[from]!.getClientRects()[0]!;
  let line: number | null = null;
  let best = from;
  let distance = Number.POSITIVE_INFINITY;
  for (let i = from + step; i >= 0 && i < spans.length; i += step) {
    const { top, left } = spans[i]!.getClientRects()[0] ?? start;
    if (Math.abs(top - start.top) < 4) continue;
    line ??= top;
    if (Math.abs(top - line) >= 4) break;
    if (Math.abs(left - start.left) >= distance) continue;
    distance = Math.abs(left - start.left);
    best = i;
  }
  return best;
}

function turnOf(element: Element, column: Column): TurnElement | undefined {
  const turn = element.closest('.turn');
  return column.turns.find((other) => other.element === turn);
}

/** To the first token of the turn before or after, or to its line where it is folded. */
function toTurn(column: Column, from: TurnElement, step: 1 | -1): void {
  const turn = column.turns[from.index - 1 + step];
  if (!turn) return;
  if (turn.opened && turn.act.tokens.length > 0) column.focusToken(turn.act, 0);
  else turn.focusFold();
}
