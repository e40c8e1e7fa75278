/**
 * The tools of an airline's desk. Each is `(args, state) => value`: `state` is this session's own copy of
 * db.json, and a thrown Error's message is what the tool answers instead: {"error": "…"}.
 */

function reservationOf(state, id) {
  if (!Object.hasOwn(state.reservations, id)) throw new Error('Reservation not found');
  return state.reservations[id];
}

export function get_reservation({ reservation_id }, state) {
  return reservationOf(state, reservation_id);
}

export function search_flights({ from, to, date }, state) {
  return Object.values(state.flights)
    .filter((flight) => flight.from === from && flight.to === to && flight.date === date)
    .sort((a, b) => a.price - b.price)
    .map(({ flight, departs, price }) => ({ flight, departs, price }));
}

export function change_flight({ reservation_id, flight }, state) {
  const reservation = reservationOf(state, reservation_id);
  if (reservation.status === 'cancelled') throw new Error('Reservation is cancelled');
  if (reservation.cabin === 'basic_economy') throw new Error('Basic economy reservations cannot be changed');
  const target = Object.hasOwn(state.flights, flight) ? state.flights[flight] : undefined;
  if (!target) throw new Error('Flight not found');
  Object.assign(reservation, { flight, date: target.date, status: 'changed' });
  return { reservation_id, flight, status: reservation.status };
}

export function cancel_reservation({ reservation_id }, state) {
  const reservation = reservationOf(state, reservation_id);
  if (reservation.status === 'cancelled') throw new Error('Reservation is cancelled');
  reservation.status = 'cancelled';
  return { reservation_id, status: reservation.status };
}
