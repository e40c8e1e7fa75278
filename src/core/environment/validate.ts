/** Holds entries of a file against their schema and says at the right place what is wrong. */
import type { TSchema } from '@sinclair/typebox';
import type { Json, JsonObject } from '../json';
import type { Place, Report } from './diagnostics';
import { compileSchema, type Violation } from './json-schema';
import type { Entry, Path } from './source';
import { shorten } from './violations';

/** What an entry's value violates. Our own schemas always compile. */
export function violationsOf(schema: TSchema, entry: Entry): Violation[] {
  const compiled = compileSchema(schema as unknown as JsonObject);
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.validate(entry.value);
}

/** Steps of a JSON pointer; a number where it may be an index. */
export function pathOf(pointer: string): Path {
  const steps = pointer.split('/').slice(1);
  return steps.map((step) =>
    /^\d+$/.test(step) ? Number(step) : step.replace(/~1/g, '/').replace(/~0/g, '~'),
  );
}

export function violationPlace(entry: Entry, violation: Violation): Place {
  const path = pathOf(violation.path);
  return isUnknownField(violation) ? entry.keyPlace([...path, violation.field!]) : entry.place(path);
}

export function isUnknownField(violation: Violation): boolean {
  return violation.keyword === 'additionalProperties' && violation.field !== undefined;
}

/** A violation as part of a sentence about a file: `"limits.act" must be an integer, is a string`. */
export function violationText(violation: Violation): string {
  const where = pathOf(violation.path).join('.');
  const what = inFileWords(violation);
  return where ? `${JSON.stringify(where)} ${what}` : what;
}

/** A type of JSON Schema in a sentence. */
const a = (type: string) => (type === 'null' ? type : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`);

/** People write files; the bare words of JSON Schema are for those who write schemas, and for models. */
function inFileWords({ message, keyword, types, is, encoded, params = {} }: Violation): string {
  const { limit, allowedValues, pattern } = params;
  const unit = keyword?.endsWith('Items') ? 'items' : 'characters';
  switch (keyword) {
    case 'type':
    case 'anyOf':
    case 'oneOf': {
      if (!types) return message;
      const quoted = encoded && keyword === 'type' ? ': write it without quotes' : '';
      return `must be ${types.map(a).join(' or ')}, is ${a(is!)}${quoted}`;
    }
    case 'enum':
      return `must be one of ${shorten((allowedValues as Json[]).map((one) => JSON.stringify(one)).join(', '))}`;
    case 'minLength':
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} ${unit}`;
    case 'maxLength':
    case 'maxItems':
      return `must have at most ${limit} ${unit}`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'pattern':
      return `is not written as it must be (pattern ${pattern})`;
    default:
      return message;
  }
}

/**
 * Reports everything that is wrong with an entry; a field that the schema does not know is a warning where it is
 * a field of the entry itself.
 * @returns whether the entry can be used
 */
export function accept(schema: TSchema, entry: Entry, what: string, code: string, report: Report): boolean {
  let usable = true;
  for (const violation of violationsOf(schema, entry)) {
    const place = violationPlace(entry, violation);
    if (isUnknownField(violation) && violation.path === '') {
      report.warning(
        place,
        'unknown-field',
        `${what}: ${violation.message}, which is ignored.`,
        'Remove it, or correct its name.',
      );
    } else {
      usable = false;
      report.error(place, code, `${what} was left out: ${violationText(violation)}.`, 'Correct it here.');
    }
  }
  return usable;
}
