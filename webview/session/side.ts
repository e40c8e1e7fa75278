/** The side column: branches, where observations came from, and what the heat of tokens means. */
import type { BranchView, TurnView } from '../../src/core/rehearsal/view.types';
import { el, fill } from '../common/dom';
import { button, choice, divider, setChoice, setEnabled } from '../common/toolkit';
import { Branches } from './branches';
import { HEATS, type Heat } from './heat';
import { SOURCES, type Source, sourceBadge } from './sources';

export interface SideActions {
  goto(tip: number): void;
  /** Back to the tokens. */
  leave(): void;
  setHeat(heat: Heat): void;
  setObservations(from: 'rehearse' | 'real'): void;
  /** The task with the real tools, in a branch beside the one shown. */
  runForReal(): void;
  /** Two branches side by side, by their tips. */
  compare(left: number, right: number): void;
}

const FROM = [
  { value: 'rehearse', label: 'Rehearsal' },
  { value: 'real', label: 'Real tools' },
] as const;

export class Side {
  readonly element: HTMLElement;
  readonly branches: Branches;
  private readonly counts = el('ul', 'counts');
  private readonly legend = el('ul', {
    class: 'legend',
    'aria-label': 'Heat of tokens, from likely to unlikely',
  });
  private readonly choice: HTMLElement;
  private readonly from: HTMLElement;
  /** Who answers next, as far as the session has told. */
  private known: 'rehearse' | 'real' | null = null;
  private readonly noTools = el('p', { class: 'mute small', hidden: true });
  private readonly forReal: HTMLElement;
  private readonly compare: HTMLElement;
  private list: readonly BranchView[] = [];
  private unavailable: string | null = null;
  private busy = false;

  constructor(actions: SideActions, heat: Heat) {
    this.branches = new Branches(actions.goto, actions.leave);
    this.choice = choice('Heat shows', HEATS, heat, (value) => actions.setHeat(value as Heat));
    this.choice.className = 'segments';
    this.from = choice('Answers come from', FROM, 'rehearse', (value) => {
      // The group tells of every change, also of those that the session itself made.
      if (this.known === null || value === this.known) return;
      this.known = value as 'rehearse' | 'real';
      actions.setObservations(this.known);
    });
    this.from.className = 'segments';
    this.forReal = button({
      label: 'Run for Real Beside',
      icon: 'plug',
      onClick: () => actions.runForReal(),
    });
    this.compare = button({
      label: 'Compare Two Branches',
      icon: 'split-horizontal',
      onClick: () => {
        const shown = this.list.find((branch) => branch.shown);
        const other = this.list.findLast((branch) => !branch.shown);
        if (shown && other) actions.compare(...inOrder(shown.tip, other.tip));
      },
    });
    this.element = el(
      'aside',
      { class: 'side', 'aria-label': 'Branches and legend' },
      this.branches.element,
      el('div', 'deeds', this.compare, this.forReal),
      divider(),
      el('section', {}, el('h2', {}, 'Next answers come from'), this.from, this.noTools),
      divider(),
      el('section', {}, el('h2', {}, 'Observations came from'), this.counts),
      divider(),
      el('section', {}, el('h2', {}, 'Token heat'), this.choice, this.legend),
    );
    this.setHeat(heat);
  }

  update(branches: readonly BranchView[], turns: readonly TurnView[]): void {
    this.list = branches;
    this.branches.update(branches);
    this.enable();
    const counts = countSources(turns);
    // What this build cannot produce is listed only where a saved session holds it.
    const listed = SOURCES.filter((source, i) => i < 3 || counts[source] > 0);
    fill(
      this.counts,
      ...listed.map((source) => el('li', {}, sourceBadge(source), el('span', 'num', String(counts[source])))),
    );
  }

  setTools(from: 'rehearse' | 'real', unavailable: string | null): void {
    this.unavailable = unavailable;
    this.known = from;
    setChoice(this.from, from);
    this.from.hidden = unavailable !== null;
    this.noTools.hidden = unavailable === null;
    this.noTools.textContent = unavailable === null ? '' : `Only rehearsals. ${unavailable}`;
    this.enable();
  }

  setBusy(busy: boolean): void {
    if (busy === this.busy) return;
    this.busy = busy;
    this.enable();
  }

  private enable(): void {
    const why = this.busy ? 'Pause first' : this.unavailable;
    const tooltip = 'The same task with the real tools, in a branch of its own, and both side by side';
    setEnabled(this.forReal, why === null, why ?? tooltip);
    const several = this.list.length > 1;
    setEnabled(this.compare, several, several ? 'Side by side, call by call' : 'There is one branch only');
  }

  setHeat(heat: Heat): void {
    setChoice(this.choice, heat);
    const { levels } = HEATS.find(({ value }) => value === heat)!;
    const key = heat[0]!;
    const item = (label: string, i: number) =>
      el(
        'li',
        {},
        el('span', { class: `t ${key}${i}`, 'aria-hidden': 'true' }, 'tok'),
        el('span', 'bound', label),
      );
    fill(this.legend, ...levels.map(item));
  }
}

/** The older branch stands at the left. */
function inOrder(a: number, b: number): [number, number] {
  return a < b ? [a, b] : [b, a];
}

function countSources(turns: readonly TurnView[]): Record<Source, number> {
  const counts = { gate: 0, recorded: 0, rehearsed: 0, real: 0, edited: 0 };
  for (const turn of turns)
    for (const { observation } of turn.calls) if (observation) counts[observation.source]++;
  return counts;
}
