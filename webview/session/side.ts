/** The side column: branches, where observations came from, and what the heat of tokens means. */
import type { BranchView, TurnView } from '../../src/core/rehearsal/view.types';
import { el, fill } from '../common/dom';
import { choice, divider, setChoice } from '../common/toolkit';
import { Branches } from './branches';
import { HEATS, type Heat } from './heat';
import { SOURCES, type Source, sourceBadge } from './sources';

export interface SideActions {
  goto(tip: number): void;
  /** Back to the tokens. */
  leave(): void;
  setHeat(heat: Heat): void;
}

export class Side {
  readonly element: HTMLElement;
  readonly branches: Branches;
  private readonly counts = el('ul', 'counts');
  private readonly legend = el('ul', {
    class: 'legend',
    'aria-label': 'Heat of tokens, from likely to unlikely',
  });
  private readonly choice: HTMLElement;

  constructor(actions: SideActions, heat: Heat) {
    this.branches = new Branches(actions.goto, actions.leave);
    this.choice = choice('Heat shows', HEATS, heat, (value) => actions.setHeat(value as Heat));
    this.choice.className = 'segments';
    this.element = el(
      'aside',
      { class: 'side', 'aria-label': 'Branches and legend' },
      this.branches.element,
      divider(),
      el('section', {}, el('h2', {}, 'Observations came from'), this.counts),
      divider(),
      el('section', {}, el('h2', {}, 'Token heat'), this.choice, this.legend),
    );
    this.setHeat(heat);
  }

  update(branches: readonly BranchView[], turns: readonly TurnView[]): void {
    this.branches.update(branches);
    const counts = countSources(turns);
    // What this build cannot produce is listed only where a saved session holds it.
    const listed = SOURCES.filter((source, i) => i < 3 || counts[source] > 0);
    fill(
      this.counts,
      ...listed.map((source) => el('li', {}, sourceBadge(source), el('span', 'num', String(counts[source])))),
    );
  }

  setHeat(heat: Heat): void {
    setChoice(this.choice, heat);
    const { levels } = HEATS.find(({ value }) => value === heat)!;
    const key = heat === 'probability' ? 'p' : 'e';
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

function countSources(turns: readonly TurnView[]): Record<Source, number> {
  const counts = { gate: 0, recorded: 0, rehearsed: 0, real: 0, edited: 0 };
  for (const turn of turns)
    for (const { observation } of turn.calls) if (observation) counts[observation.source]++;
  return counts;
}
