/** Recorded calls. */
import { isErrorValue } from '../conversation/result';
import { isObject } from '../json';
import type { Locations, Report } from './diagnostics';
import { type ExampleEntry, ExampleSchema } from './example-schema';
import type { Entry } from './source';
import type { Example } from './types';
import { accept } from './validate';

export function readExamples(
  entries: Entry[],
  report: Report,
  locations: Locations,
): { examples: Example[]; entries: Entry[] } {
  const usable = entries.filter((entry) => {
    const tool =
      isObject(entry.value) && typeof entry.value.tool === 'string' ? ` of ${entry.value.tool}` : '';
    return accept(ExampleSchema, entry, `A recorded call${tool}`, 'example', report);
  });
  locations.examples = usable.map((entry) => entry.place());
  return { examples: usable.map((entry) => readExample(entry.value as ExampleEntry)), entries: usable };
}

function readExample(entry: ExampleEntry): Example {
  return {
    tool: entry.tool,
    arguments: entry.arguments,
    outcome: entry.outcome ?? (isErrorValue(entry.value) ? 'error' : 'result'),
    value: entry.value,
    ...(entry.state === undefined ? {} : { state: entry.state }),
    afterWrite: entry.afterWrite ?? false,
    part: entry.part ?? 'train',
    ...(entry.verdict === undefined ? {} : { verdict: entry.verdict }),
    ...(entry.rehearsed === undefined ? {} : { rehearsed: entry.rehearsed }),
    ...(entry.note === undefined ? {} : { note: entry.note }),
  };
}
