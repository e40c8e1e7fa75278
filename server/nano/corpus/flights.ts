/** Random airline desks, what travellers ask there, and an expert who does it with the example's own tools. */
import type { JsonObject } from '../../../src/core/json';
import type { Session } from './documents';
import type { Random } from './random';
import { date, fullName, type Part, time } from './words';

export const FLIGHT_KINDS = ['change', 'cancel', 'search', 'look'] as const;
export type FlightKind = (typeof FLIGHT_KINDS)[number];

const AIRPORTS =
  'SFO JFK ORD MIA SEA BOS LAX ATL DEN DFW LHR CDG FRA MAD VIE ZRH OSL LIS DUB PRG MXP AMS'.split(' ');
const CODE = 'ABCDEFGHJKLMNPQRSTUVWXYZ0123456789';
const flightId = (random: Random) => `${random.letters('ABCDEFGHJKLMNPQRSTUVWXYZ', 2)}${random.digits(3)}`;

export function flightState(random: Random, part: Part): JsonObject {
  const flights: JsonObject = {};
  const reservations: JsonObject = {};
  for (let i = random.int(2, 4); i > 0; i--) {
    const [from, to] = random.sample(AIRPORTS, 2) as [string, string];
    const day = date(random);
    // Some days have two flights between the same airports, so that the cheapest is a choice.
    for (let n = random.int(1, 2); n > 0; n--) {
      const flight = flightId(random);
      flights[flight] = { flight, from, to, date: day, departs: time(random), price: random.int(50, 500) };
    }
  }
  for (let i = random.int(3, 5); i > 0; i--) {
    const reservation_id = random.letters(CODE, 6);
    const { flight, date: day } = random.pick(Object.values(flights) as { flight: string; date: string }[]);
    reservations[reservation_id] = {
      reservation_id,
      passenger: fullName(random, part),
      flight,
      date: day,
      cabin: random.weighted({ basic_economy: 4, economy: 4, business: 2 }),
      status: random.weighted({ confirmed: 9, cancelled: 1 }),
    };
  }
  return { reservations, flights };
}

const rows = (state: JsonObject, table: string) => Object.values(state[table] as JsonObject) as JsonObject[];

const ASKS: Record<string, string[]> = {
  change: [
    'Move reservation {id} to flight {flight}.',
    'Please move reservation {id} to flight {flight}.',
    'Change reservation {id} to flight {flight}.',
    'I would like to fly with {flight} instead. My reservation is {id}.',
    'Can you change {id} to {flight}?',
    'Please put me on flight {flight}, reservation {id}.',
    'Rebook {id} to flight {flight}.',
  ],
  cancel: [
    'Cancel reservation {id}.',
    'Please cancel reservation {id}.',
    'I cannot travel. Cancel {id}, please.',
    'I want to cancel my reservation {id}.',
    'Can you cancel {id}?',
  ],
  search: [
    'What is the cheapest flight from {from} to {to} on {date}?',
    'Which flight goes from {from} to {to} on {date}?',
    'I want to fly from {from} to {to} on {date}.',
    'Find a flight from {from} to {to} on {date}.',
    'Search flights from {from} to {to} on {date}.',
  ],
  flight: [
    'Which flight is reservation {id} for?',
    'What flight is {id} on?',
    'Which flight do I have? It is {id}.',
  ],
  cabin: ['Which cabin is reservation {id}?', 'What cabin do I have in {id}?', 'In which cabin is {id}?'],
  date: [
    'When do I fly with reservation {id}?',
    'On which date is {id}?',
    'What is the date of reservation {id}?',
  ],
  passenger: [
    'Who flies with reservation {id}?',
    'Whose reservation is {id}?',
    'Who is the passenger of {id}?',
  ],
};

const ASKED: Record<FlightKind, Record<string, number>> = {
  change: { change: 1 },
  cancel: { cancel: 1 },
  search: { search: 1 },
  look: { flight: 1, cabin: 1, date: 1, passenger: 1 },
};

const words = (text: unknown) => String(text).replace('_', ' ');

export function flightTask(
  session: Session,
  state: JsonObject,
  kind: FlightKind,
  random: Random,
  part: Part,
): void {
  const known = random.chance(part === 'plain' ? 0.985 : 0.94);
  const id = known
    ? (random.pick(rows(state, 'reservations')).reservation_id as string)
    : random.letters(CODE, 6);
  const target = random.pick(rows(state, 'flights'));
  const ask = random.weighted(ASKED[kind]);
  const [from, to, day] = [target.from, target.to, known ? target.date : date(random)] as [
    string,
    string,
    string,
  ];
  const flight = known || random.chance(0.5) ? (target.flight as string) : flightId(random);
  session.user(
    random
      .pick(ASKS[ask] as string[])
      .replace('{id}', id)
      .replace('{flight}', flight)
      .replace('{from}', from)
      .replace('{to}', to)
      .replace('{date}', day),
  );
  if (ask === 'search') {
    const found = session.call('search_flights', { from, to, date: day }) as unknown as JsonObject[];
    const first = found[0];
    session.answer(
      first
        ? `Flight ${first.flight} leaves at ${first.departs} and costs ${first.price} dollars.`
        : `There is no flight from ${from} to ${to} on ${day}.`,
    );
    return;
  }
  session.answer(reservationExpert(session, ask, id, flight, random, part === 'plain' ? 0.5 : 0.15));
}

function reservationExpert(
  session: Session,
  ask: string,
  id: string,
  flight: string,
  random: Random,
  tries: number,
): string {
  const found = session.call('get_reservation', { reservation_id: id });
  if (found.error) return `Reservation ${id} was not found.`;
  if (ask === 'flight') return `Reservation ${id} is for flight ${found.flight}.`;
  if (ask === 'cabin') return `Reservation ${id} is ${words(found.cabin)}.`;
  if (ask === 'date') return `Reservation ${id} is for ${found.date}.`;
  if (ask === 'passenger') return `The passenger is ${found.passenger}.`;
  const refused =
    found.status === 'cancelled'
      ? 'cancelled'
      : ask === 'change' && found.cabin === 'basic_economy'
        ? 'fixed'
        : '';
  const reason =
    refused === 'cancelled'
      ? `Reservation ${id} is already cancelled.`
      : `Reservation ${id} is basic economy and cannot be changed.`;
  // Sometimes the expert's apprentice tries all the same; the tool refuses.
  if (refused && !random.chance(tries)) return reason;
  if (ask === 'cancel') {
    session.call('cancel_reservation', { reservation_id: id }, refused !== '');
    return refused ? reason : `Reservation ${id} is cancelled.`;
  }
  const done = session.call('change_flight', { reservation_id: id, flight }, refused !== '');
  if (refused) return reason;
  return done.error ? `Flight ${flight} was not found.` : `Reservation ${id} is now for flight ${flight}.`;
}

export function flightCall(state: JsonObject, random: Random): { tool: string; arguments: JsonObject } {
  const reservation = random.pick(rows(state, 'reservations')).reservation_id as string;
  const flight = random.pick(rows(state, 'flights'));
  const kind = random.weighted({ look: 5, unknown: 0.7, change: 2, search: 2, cancel: 1 });
  if (kind === 'look') return { tool: 'get_reservation', arguments: { reservation_id: reservation } };
  if (kind === 'unknown')
    return { tool: 'get_reservation', arguments: { reservation_id: random.letters(CODE, 5) } };
  if (kind === 'cancel') return { tool: 'cancel_reservation', arguments: { reservation_id: reservation } };
  if (kind === 'change') {
    return {
      tool: 'change_flight',
      arguments: { reservation_id: reservation, flight: flight.flight as string },
    };
  }
  const { from, to, date: day } = flight as { from: string; to: string; date: string };
  return { tool: 'search_flights', arguments: { from, to, date: day } };
}
