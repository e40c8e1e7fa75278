/** Fields of tools that nobody wrote: a name, a schema, a value, and how a person says the value. */
import type { Json, JsonObject } from '../../../src/core/json';
import type { Random } from './random';
import {
  address,
  capital,
  city,
  date,
  email,
  firstName,
  fullName,
  inventedWord,
  type Part,
  product,
  time,
} from './words';

export interface Field {
  name: string;
  schema: JsonObject;
  value: (random: Random, part: Part) => Json;
  /** Words before the value in a request: "in Paris", "with the amount 40". */
  say: string[];
}

const split = (text: string) => text.trim().split(/\s+/);

const COMMON =
  split(`red blue green black white small large cheap quiet fresh warm cold light heavy simple old new fast
  slow happy soft dry sweet shoes tea coffee bread paper books music films games toys tools plants lamps chairs bags
  phones cables jackets sun rain snow garden kitchen office winter summer morning evening family travel work school
  health sport news history science art pasta soup salad cake rice fish cheese apples`);

const text = (description: string): JsonObject => ({ type: 'string', description });

/** Ids as products have them: a prefix, a dash perhaps, digits or letters, now and then a `#`. */
function idOf(random: Random): string {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ';
  return random.weighted({
    [`${random.letters(letters, 1)}${random.digits(random.int(3, 7))}`]: 3,
    [`#${random.letters(letters, 1)}${random.digits(random.int(4, 7))}`]: 2,
    [`${random.letters(letters, random.int(2, 3))}-${random.digits(random.int(3, 5))}`]: 2,
    [random.letters(`${letters}0123456789`, 6)]: 2,
    [`${inventedWord(random).slice(0, 4)}_${random.digits(3)}`]: 1,
    [`x${random.digits(random.int(3, 6))}`]: 1,
  });
}

const words = (random: Random) =>
  Array.from({ length: random.int(1, 3) }, () =>
    random.chance(0.2) ? inventedWord(random) : random.pick(COMMON),
  ).join(' ');

export function idField(random: Random, noun: string): Field {
  const name = random.weighted({ [`${noun}_id`]: 5, id: 2, [`${noun}_number`]: 1, code: 1, reference: 1 });
  return {
    name,
    schema: text(random.pick([`The id of the ${noun.replaceAll('_', ' ')}.`, 'The id.', `Which ${noun}.`])),
    value: idOf,
    say: ['', '', 'with the id ', 'number '],
  };
}

type Make = (random: Random) => Field;

const named = (
  names: string,
  schema: (name: string) => JsonObject,
  value: Field['value'],
  say: string[],
): Make => {
  const list = split(names);
  return (random) => {
    const name = random.pick(list);
    return {
      name,
      schema: schema(name.replaceAll('_', ' ')),
      value,
      say: say.map((one) => one.replace('{f}', name.replaceAll('_', ' '))),
    };
  };
};

/** Arguments, by the kind of value that they take. */
export const ARGUMENTS: Make[] = [
  named('city location place town destination', (f) => text(`The ${f}.`), city, [
    'in ',
    'in ',
    'for ',
    'near ',
    'at ',
  ]),
  named('name customer_name person user owner guest', (f) => text(`The ${f}, first and last.`), fullName, [
    'for ',
    'of ',
    'by ',
    'named ',
  ]),
  named(
    'email recipient to contact user_email',
    () => text('An e-mail address.'),
    (r, p) => email(r, fullName(r, p)),
    ['for ', 'to ', 'with the e-mail '],
  ),
  named('date day start_date due_date', (f) => text(`The ${f}, like 2026-05-20.`), date, ['on ', 'for ']),
  named('time start hour', (f) => text(`The ${f}, like 08:30.`), time, ['at ']),
  named('query keywords topic search title', (f) => text(`The ${f}.`), words, [
    'about ',
    'for ',
    'with ',
    'on ',
    'called ',
  ]),
  named(
    'amount quantity count number limit days guests seats',
    (f) => ({ type: 'integer', description: `The ${f}.` }),
    (r) => r.int(1, r.chance(0.5) ? 12 : 900),
    ['with the {f} ', '{f} '],
  ),
  named(
    'price rate weight distance temperature value',
    (f) => ({ type: 'number', description: `The ${f}.` }),
    (r) => r.int(11, 999) / 10,
    ['with the {f} ', 'at {f} '],
  ),
  named('address street delivery_address', (f) => text(`The ${f}.`), address, ['to ', 'at ']),
  named('item product article', (f) => text(`The ${f}.`), product, ['for the ', 'of the ']),
  named('first_name nickname author artist teacher', (f) => text(`The ${f}.`), firstName, ['for ', 'by ']),
  named(
    'company team brand group label tag',
    (f) => text(`The ${f}.`),
    (r) => capital(inventedWord(r)),
    ['for ', 'of ', 'at '],
  ),
];

const ENUMS: [string, string[]][] = [
  ['unit', ['celsius', 'fahrenheit', 'kelvin']],
  ['currency', ['EUR', 'USD', 'GBP', 'CHF']],
  ['priority', ['low', 'normal', 'high']],
  ['size', ['small', 'medium', 'large']],
  ['color', ['red', 'green', 'blue', 'black']],
  ['language', ['English', 'French', 'German', 'Spanish']],
  ['format', ['pdf', 'csv', 'text']],
  ['category', ['food', 'travel', 'music', 'sport']],
  ['mode', ['fast', 'slow', 'quiet']],
];

export function enumField(random: Random): Field {
  const [name, options] = random.pick(ENUMS);
  const schema: JsonObject = { type: 'string', enum: options };
  if (random.chance(0.5)) schema.description = `The ${name}.`;
  return { name, schema, value: (r) => r.pick(options), say: [`with the ${name} `, `as ${name} `, 'in '] };
}

/** What a tool gives back, by field name. */
export const RESULTS: [string, (random: Random, part: Part) => Json][] = [
  [
    'status',
    (r) => r.pick(['open', 'closed', 'active', 'pending', 'paid', 'ready', 'late', 'confirmed', 'done']),
  ],
  ['price', (r) => r.int(3, 900)],
  ['total', (r) => r.int(3, 900)],
  ['amount', (r) => r.int(1, 200)],
  ['date', (r) => date(r)],
  ['time', (r) => time(r)],
  ['name', fullName],
  ['owner', fullName],
  ['city', city],
  ['title', (r) => capital(words(r))],
  ['color', (r) => r.pick(['red', 'green', 'blue', 'black', 'white'])],
  ['temperature', (r) => r.int(-9, 38)],
  ['rating', (r) => r.int(10, 50) / 10],
  ['email', (r, p) => email(r, fullName(r, p))],
  ['phone', (r) => r.digits(7)],
  ['available', (r) => r.chance(0.5)],
  ['distance', (r) => r.int(1, 900)],
  ['room', (r) => r.int(1, 400)],
  ['address', address],
  ['level', (r) => r.pick(['low', 'normal', 'high'])],
];

export const anyValue = (random: Random, part: Part): Json =>
  random.chance(0.4) ? idOf(random) : random.pick(ARGUMENTS)(random).value(random, part);
