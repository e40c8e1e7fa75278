/** Breakpoints and exception filters of the debugger, as what `LiveSession` stops at. */
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { type ExceptionFilter, type Filters, NO_FILTERS, stopReason } from '../../core/rehearsal/breakpoints';
import { currentTurnIndex } from '../../core/rehearsal/machine';
import type { State } from '../../core/rehearsal/types';
import { outputKey } from '../../core/rehearsal/view';
import type { Watch } from '../session/watching';

/** Where no condition is given. */
const DEFAULT_PROBABILITY = 0.05;

export const EXCEPTION_FILTERS: (P.ExceptionBreakpointsFilter & { filter: ExceptionFilter })[] = [
  {
    filter: 'failedGate',
    label: 'Failed Gate',
    description: 'Stops after a call that fails the format, tool or schema gate.',
  },
  {
    filter: 'rehearsedError',
    label: 'Rehearsed Error',
    description: 'Stops after a rehearsed response that is an error.',
  },
  {
    filter: 'unparseable',
    label: 'Unparseable Rehearsal',
    description: 'Stops after a rehearsed response that cannot be read as a result.',
  },
  {
    filter: 'differsFromReal',
    label: 'Rehearsal Differs From the Real Tool',
    description:
      'Executes each call that was rehearsed, once you allow it, and stops where the real answer differs.',
  },
  {
    filter: 'belowProbability',
    label: 'Improbable Token',
    description: `Stops after a token below a probability (${DEFAULT_PROBABILITY} where no condition is given).`,
    supportsCondition: true,
    conditionDescription: 'Probability between 0 and 1, for example 0.05',
  },
];

/** Filters from a `setExceptionBreakpoints` request, and what is said about each, in the order of the request. */
export function exceptionFilters(args: P.SetExceptionBreakpointsArguments): {
  filters: Omit<Filters, 'tools'>;
  breakpoints: P.Breakpoint[];
} {
  const filters: Filters = { ...NO_FILTERS };
  const wanted = [
    ...args.filters.map((filterId) => ({ filterId, condition: undefined })),
    ...(args.filterOptions ?? []),
  ];
  const breakpoints = wanted.map(({ filterId, condition }): P.Breakpoint => {
    if (filterId !== 'belowProbability') {
      if (!isSwitch(filterId)) return { verified: false, message: 'There is no such filter.' };
      filters[filterId] = true;
      return { verified: true };
    }
    const bound = condition?.trim() ? Number(condition) : DEFAULT_PROBABILITY;
    if (!(bound > 0 && bound <= 1)) {
      return {
        verified: false,
        message: 'The condition has to be a probability between 0 and 1, for example 0.05.',
      };
    }
    filters.belowProbability = bound;
    return { verified: true };
  });
  return { filters, breakpoints };
}

/** Filters that are on or off, without a condition. */
const SWITCHES = ['failedGate', 'rehearsedError', 'unparseable', 'differsFromReal'] as const;

function isSwitch(filter: string): filter is (typeof SWITCHES)[number] {
  return (SWITCHES as readonly string[]).includes(filter);
}

/** All that a session stops at besides its gestures. */
export interface StopSet {
  tools: ReadonlySet<string>;
  filters: Omit<Filters, 'tools'>;
  /** Outputs with a breakpoint in the transcript, as `turn/call` (`outputKey`). */
  outputs: ReadonlySet<string>;
}

export function watchOf({ tools, filters, outputs }: StopSet): Watch {
  return (step) => {
    const found = stopReason({ ...filters, tools }, step);
    if (found?.kind === 'exception')
      return { kind: 'exception', exception: { filter: found.filter, text: found.text } };
    if (found) return { kind: found.kind };
    const next = outputAhead(step.after);
    return next !== null && outputs.has(next) && next !== outputAhead(step.before)
      ? { kind: 'breakpoint' }
      : null;
  };
}

/** The output that begins next, where one does. */
function outputAhead(state: State): string | null {
  if (state.position.kind !== 'prompt') return null;
  return outputKey(currentTurnIndex(state), state.position.call);
}
