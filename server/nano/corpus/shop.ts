/** Random shops, what customers ask there, and an expert who does it with the example's own tools. */
import type { Json, JsonObject } from '../../../src/core/json';
import type { Session } from './documents';
import type { Random } from './random';
import { address, email, fullName, type Part, product } from './words';

export const SHOP_KINDS = ['cancel', 'address', 'product', 'status', 'price', 'byEmail'] as const;
export type ShopKind = (typeof SHOP_KINDS)[number];

export function shopState(random: Random, part: Part): JsonObject {
  const customers: JsonObject = {};
  const orders: JsonObject = {};
  const products: JsonObject = {};
  for (let i = random.int(3, 6); i > 0; i--) {
    const name = fullName(random, part);
    const product_id = `P${random.digits(4)}`;
    const price = random.int(5, 400);
    const order_id = `#W${random.digits(7)}`;
    const customer_id = `C${random.digits(4)}`;
    customers[customer_id] = { customer_id, name, email: email(random, name), orders: [order_id] };
    products[product_id] = { product_id, name: product(random, part), price, in_stock: random.chance(0.65) };
    orders[order_id] = {
      order_id,
      status: random.weighted({ pending: 5, shipped: 3, delivered: 3, cancelled: 1 }),
      customer: name,
      product_id,
      total: random.chance(0.5) ? price : random.int(5, 600),
      address: address(random, part),
    };
  }
  return { customers, orders, products };
}

const rows = (state: JsonObject, table: string) => Object.values(state[table] as JsonObject) as JsonObject[];

/** What a person asks. `{id}`, `{address}` and `{email}` are filled in. */
const ASKS: Record<string, string[]> = {
  cancel: [
    'Check order {id} and cancel it if it has not shipped.',
    'Please cancel order {id}.',
    'Cancel my order {id}, please.',
    'I want to cancel order {id}.',
    'Can you cancel {id}?',
    'I no longer need order {id}. Please cancel it.',
    'Order {id} was a mistake, cancel it.',
    'If order {id} is still pending, cancel it.',
    'Please check order {id}. If it is pending, cancel it.',
    'Hello, I would like order {id} cancelled.',
  ],
  address: [
    'Please send order {id} to {address}.',
    'Change the address of order {id} to {address}.',
    'I moved. Send order {id} to {address}.',
    'Can you send {id} to {address} instead?',
    'Please change the address of {id} to {address}.',
    'The new address for order {id} is {address}.',
    'Order {id} should go to {address}.',
    'If order {id} has not shipped, send it to {address}.',
  ],
  productPrice: [
    'What does product {product} cost?',
    'What is the price of {product}?',
    'How much is product {product}?',
    'How much does {product} cost?',
    'Tell me the price of product {product}.',
  ],
  productStock: [
    'Is product {product} in stock?',
    'Do you have {product} in stock?',
    'Is {product} available?',
    'Can I still buy product {product}?',
  ],
  productName: [
    'What is product {product}?',
    'Which product is {product}?',
    'What is the name of product {product}?',
  ],
  status: [
    'Where is my order {id}?',
    'What is the status of order {id}?',
    'Has order {id} shipped?',
    'Is order {id} on its way?',
    'Can you check order {id}?',
    'Please tell me the status of {id}.',
    'I am waiting for order {id}. Where is it?',
  ],
  price: [
    'How much did I pay for order {id}?',
    'What is the total of order {id}?',
    'What did order {id} cost?',
    'How much is order {id}?',
    'Please tell me the total of {id}.',
  ],
  where: [
    'Where does order {id} go?',
    'What is the address of order {id}?',
    'To which address is {id} sent?',
  ],
  emailStatus: [
    'My e-mail is {email}. What is the status of my order?',
    'I am {email}. Where is my order?',
    'Has my order shipped? My e-mail is {email}.',
    'What is the status of the order of {email}?',
    'My email address is {email}. Where is my order?',
  ],
  emailCancel: [
    'My e-mail is {email}. Please cancel my order.',
    'I am {email} and want to cancel my order.',
    'Cancel the order of {email}, please.',
    'Please cancel my order. My e-mail is {email}.',
  ],
  emailPrice: [
    'My e-mail is {email}. How much did I pay for my order?',
    'What is the total of my order? I am {email}.',
    'How much was the order of {email}?',
  ],
  emailName: [
    'Which customer has the e-mail {email}?',
    'Whose e-mail is {email}?',
    'Find the customer with {email}.',
  ],
};

const ASKED: Record<ShopKind, Record<string, number>> = {
  cancel: { cancel: 1 },
  address: { address: 1 },
  product: { productPrice: 3, productStock: 2, productName: 1 },
  status: { status: 1 },
  price: { price: 3, where: 1 },
  byEmail: { emailStatus: 3, emailCancel: 2, emailPrice: 2, emailName: 1 },
};

/** The five kinds of tasks (product counted once) on a random record of `state`; the expert's answer ends it. */
export function shopTask(
  session: Session,
  state: JsonObject,
  kind: ShopKind,
  random: Random,
  part: Part,
  novice = false,
): void {
  const order = random.pick(rows(state, 'orders'));
  const known = random.chance(part === 'plain' ? 0.985 : 0.94);
  const orderId = known ? (order.order_id as string) : `#W${random.digits(7)}`;
  const customer = rows(state, 'customers').find((one) =>
    (one.orders as Json[]).includes(order.order_id as string),
  );
  const mail = known && customer ? (customer.email as string) : email(random, fullName(random, part));
  const productId = known ? (order.product_id as string) : `P${random.digits(4)}`;
  const ask = random.weighted(ASKED[kind]);
  const to = address(random, part);
  const text = random
    .pick(ASKS[ask] as string[])
    .replace('{id}', random.chance(0.5) ? orderId : orderId.slice(1))
    .replace('{address}', to)
    .replace('{product}', productId)
    .replace('{email}', mail);
  session.user(text);
  session.answer(
    shopExpert(
      session,
      ask,
      { orderId, to, productId, mail, tries: part === 'plain' ? 0.5 : 0.12 },
      random,
      novice,
    ),
  );
}

interface Wanted {
  orderId: string;
  to: string;
  productId: string;
  mail: string;
  /** How often a change that the tool will refuse is tried all the same. */
  tries: number;
}

function shopExpert(session: Session, ask: string, wanted: Wanted, random: Random, novice: boolean): string {
  if (ask.startsWith('product')) return aboutProduct(session, ask, wanted.productId);
  let orderId = wanted.orderId;
  if (ask.startsWith('email')) {
    const customer = session.call('find_customer_by_email', { email: wanted.mail });
    if (customer.error) return `There is no customer with the e-mail ${wanted.mail}.`;
    if (ask === 'emailName') return `The customer is ${customer.name}.`;
    orderId = (customer.orders as string[])[0] as string;
  }
  // The novice leaves the # out and gives up when it is refused; the expert's slips are put right.
  if (novice && random.chance(0.7)) {
    session.call('get_order', { order_id: orderId.slice(1) });
    return `Order ${orderId.slice(1)} was not found.`;
  }
  const order = lookUp(session, orderId, novice ? 0 : 0.18, random);
  if (order.error) return `Order ${orderId} was not found.`;
  if (ask === 'cancel' || ask === 'emailCancel') {
    // The mistake of trying all the same, and what the tool answers to it.
    if (order.status !== 'pending' && !random.chance(wanted.tries)) {
      return `Order ${orderId} is ${order.status} and cannot be cancelled.`;
    }
    const done = session.call('cancel_order', { order_id: orderId }, order.status !== 'pending');
    return done.error
      ? `${done.error}.`.replace('Order', `Order ${orderId}`)
      : `Order ${orderId} is cancelled.`;
  }
  if (ask === 'address') {
    if (order.status !== 'pending' && !random.chance(wanted.tries)) {
      return `Order ${orderId} is ${order.status} and cannot be redirected.`;
    }
    const done = session.call(
      'change_address',
      { order_id: orderId, address: wanted.to },
      order.status !== 'pending',
    );
    return done.error
      ? `${done.error}.`.replace('Order', `Order ${orderId}`)
      : `Order ${orderId} goes to ${wanted.to}.`;
  }
  if (ask === 'where') return `Order ${orderId} goes to ${order.address}.`;
  if (ask === 'price' || ask === 'emailPrice') return `Order ${orderId} costs ${order.total} dollars.`;
  return `Order ${orderId} is ${order.status}.`;
}

/** Sometimes without the `#` first, refused, and then with it: the refusal is REHEARSE's to learn. */
function lookUp(session: Session, orderId: string, slips: number, random: Random): JsonObject {
  if (random.chance(slips)) session.call('get_order', { order_id: orderId.slice(1) }, true);
  return session.call('get_order', { order_id: orderId });
}

function aboutProduct(session: Session, ask: string, productId: string): string {
  const found = session.call('get_product', { product_id: productId });
  if (found.error) return `Product ${productId} was not found.`;
  if (ask === 'productName') return `Product ${productId} is the ${found.name}.`;
  if (ask === 'productStock') return `The ${found.name} is ${found.in_stock ? 'in stock' : 'out of stock'}.`;
  return `The ${found.name} costs ${found.price} dollars.`;
}

/** Look-ups of the shop for recorded calls and free rehearsals: mostly of what is there, and some refused. */
export function shopCall(
  state: JsonObject,
  random: Random,
  part: Part,
): { tool: string; arguments: JsonObject } {
  const order = random.pick(rows(state, 'orders'));
  const customer = random.pick(rows(state, 'customers'));
  const kind = random.weighted({
    order: 5,
    bare: 1.5,
    unknown: 0.7,
    product: 2,
    email: 1.5,
    cancel: 1,
    address: 1,
  });
  if (kind === 'order') return { tool: 'get_order', arguments: { order_id: order.order_id as string } };
  if (kind === 'bare')
    return { tool: 'get_order', arguments: { order_id: (order.order_id as string).slice(1) } };
  if (kind === 'unknown') return { tool: 'get_product', arguments: { product_id: random.digits(4) } };
  if (kind === 'product')
    return { tool: 'get_product', arguments: { product_id: order.product_id as string } };
  if (kind === 'email')
    return { tool: 'find_customer_by_email', arguments: { email: customer.email as string } };
  if (kind === 'cancel') return { tool: 'cancel_order', arguments: { order_id: order.order_id as string } };
  return {
    tool: 'change_address',
    arguments: { order_id: order.order_id as string, address: address(random, part) },
  };
}
