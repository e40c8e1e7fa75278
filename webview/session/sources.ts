/** Where an observation came from: an icon and a word, never colour alone. */
import type { CallView, ObservationView } from '../../src/core/rehearsal/view.types';
import { el, icon } from '../common/dom';

export type Source = ObservationView['source'];

/** In the order in which they are counted. */
export const SOURCES: readonly Source[] = ['gate', 'recorded', 'rehearsed', 'real', 'edited'];

const ICONS: Record<Source, string> = {
  gate: 'shield',
  recorded: 'notebook',
  rehearsed: 'issue-draft',
  real: 'plug',
  edited: 'edit',
};

const TITLES: Record<Source, string> = {
  gate: 'Refused by a gate, before anything was rehearsed',
  recorded: 'An answer recorded in the environment’s examples',
  rehearsed: 'Written by the model itself, in the role of the tool',
  real: 'What the real tool answered',
  edited: 'Changed by you',
};

export function sourceBadge(source: Source): HTMLElement {
  return el('span', { class: `src ${source}`, title: TITLES[source] }, icon(ICONS[source]), source);
}

const GATES = ['format', 'tool', 'schema'] as const;
const FAILED: Record<string, number> = {
  INVALID_TOOL_CALL_FORMAT: 0,
  TOOL_NOT_AVAILABLE: 1,
  INVALID_PARAMETERS: 2,
};

/** "gates: format, tool, schema ok", or which one failed and why. Later gates are not tried. */
export function gatesLine(call: CallView): HTMLElement {
  const line = el('span', 'gates', icon('shield'));
  if (!call.gatesChecked) {
    line.append('gates: left to the model');
    return line;
  }
  if (!call.gate) {
    line.append(`gates: ${GATES.join(', ')}`, el('b', 'pass', icon('check'), 'ok'));
    return line;
  }
  const failed = FAILED[call.gate.code] ?? 0;
  const passed = GATES.slice(0, failed);
  line.append(passed.length > 0 ? `gates: ${passed.join(', ')} ok;` : 'gates:');
  line.append(el('b', 'fail', icon('error'), `${GATES[failed]} failed`));
  return line;
}
