/** What a run will cost, from a step that was measured. */
import { el, icon } from '../../common/dom';
import { about, bytes, figure } from '../../common/format';
import { printable } from '../../common/text';
import type { EstimateView } from '../../common/training';

export function estimateLines(estimate: EstimateView): HTMLElement[] {
  const { state, seconds, secondsPerStep, tokensPerStep, memoryBytes, why } = estimate;
  if (state === 'measuring') return [el('p', 'mute', icon('loading'), 'Measuring a small step…')];
  if (state === 'failed') return [el('p', 'fail', icon('error'), printable(why))];
  const items: [string, string][] = [];
  if (seconds !== null) items.push(['Time', about(seconds)]);
  if (secondsPerStep !== null) items.push(['A step', `${figure(secondsPerStep)} s`]);
  if (tokensPerStep !== null) items.push(['Tokens a step', figure(tokensPerStep)]);
  if (memoryBytes !== null) items.push(['Memory', bytes(memoryBytes)]);
  return [
    el(
      'dl',
      'facts',
      ...items.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
    ),
    el('p', 'mute', printable(why), el('span', 'stale', ' Settings have changed since.')),
  ];
}
