/** Holds entries of a file against their schema and says at the right place what is wrong. */
import type { TSchema } from '@sinclair/typebox';
import type { JsonObject } from '../json';
import type { Place, Report } from './diagnostics';
import { compileSchema, type Violation } from './json-schema';
import type { Entry, Path } from './source';

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

/** A violation as part of a sentence about a file: `"limits.act" must be a whole number, is a text`. */
export function violationText(violation: Violation): string {
  const where = pathOf(violation.path).join('.');
  const what = inFileWords(violation);
  return where ? `${JSON.stringify(where)} ${what}` : what;
}

const TYPES: Record<string, string> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

const COMPARED: Record<string, string> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'more than',
  '<': 'less than',
};

/** People write files; the words of JSON Schema are for those who write schemas, and for models. */
function inFileWords({ message, keyword }: Violation): string {
  switch (keyword) {
    case 'type':
    case 'anyOf':
    case 'oneOf':
      return message
        .replace(/^must be (.*), is (\w+)/, (_, wanted: string, is: string) => {
          const types = wanted.split(' or ').map((type) => TYPES[type] ?? type);
          return `must be ${types.join(' or ')}, is ${TYPES[is] ?? is}`;
        })
        .replace(/: send the value itself.*/, ': write it without quotes');
    case 'enum':
      return message.replace(/^must be one of \[(.*)\]$/, (_, values: string) => {
        return `must be one of ${values.replaceAll('","', '", "')}`;
      });
    case 'minLength':
    case 'minItems':
      return message.replace(/^must NOT have fewer than (\d+) (\w+)$/, (_, least: string, of: string) =>
        least === '1' ? 'must not be empty' : `must have at least ${least} ${of}`,
      );
    case 'maxLength':
    case 'maxItems':
      return message.replace(/^must NOT have more than (\d+) (\w+)$/, 'must have at most $1 $2');
    case 'pattern':
      return message.replace(/^must match pattern "(.*)"$/, 'is not written as it must be (pattern $1)');
    default:
      return message.replace(/^must be (>=|<=|>|<) /, (_, sign: string) => `must be ${COMPARED[sign]} `);
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
