/**
 * The tools of a small shop. Each is `(args, state) => value`: `state` is this session's own copy of db.json,
 * and a thrown Error's message is what the tool answers instead: {"error": "…"}.
 */

function find(table, key, what) {
  if (!Object.hasOwn(table, key)) throw new Error(`${what} not found`);
  return table[key];
}

function pending(state, orderId, deed) {
  const order = find(state.orders, orderId, 'Order');
  if (order.status !== 'pending') throw new Error(`Order is ${order.status} and cannot be ${deed}`);
  return order;
}

export function find_customer_by_email({ email }, state) {
  const customer = Object.values(state.customers).find((one) => one.email === email);
  if (!customer) throw new Error('Customer not found');
  return customer;
}

export function get_order({ order_id }, state) {
  return find(state.orders, order_id, 'Order');
}

export function cancel_order({ order_id }, state) {
  const order = pending(state, order_id, 'cancelled');
  order.status = 'cancelled';
  return { order_id, status: order.status, refund: order.total };
}

export function change_address({ order_id, address }, state) {
  const order = pending(state, order_id, 'redirected');
  order.address = address;
  return { order_id, status: order.status, address };
}

export function get_product({ product_id }, state) {
  return find(state.products, product_id, 'Product');
}
