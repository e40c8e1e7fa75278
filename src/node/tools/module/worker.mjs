/** One session of a tool module: its functions over its own copy of the state. See host.mjs. */
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

const SHOWN_PRINTED = 2000;

// What a tool prints belongs to the call that printed it.
let printed = '';
for (const stream of [process.stdout, process.stderr]) {
  stream.write = (chunk) => {
    printed = (printed + chunk).slice(0, SHOWN_PRINTED);
    return true;
  };
}

const state = JSON.parse(workerData.state);
const module = await import(pathToFileURL(workerData.file).href);
const tools = new Map();
for (const source of [module.default, module]) {
  if (source === null || typeof source !== 'object') continue;
  for (const [name, value] of Object.entries(source)) if (typeof value === 'function') tools.set(name, value);
}
parentPort.postMessage({ t: 'opened', tools: [...tools.keys()] });

/** JSON of a value, or an error that says why it has none: JSON.stringify alone makes NaN a null. */
function textOf(value) {
  const text = JSON.stringify(value, (_key, item) => {
    if (typeof item === 'number' && !Number.isFinite(item)) throw new TypeError(`it has the number ${item}`);
    if (typeof item === 'bigint') throw new TypeError('it has a BigInt');
    return item;
  });
  return text === undefined ? 'null' : text;
}

function answerOf(value) {
  try {
    return { text: textOf(value) };
  } catch (error) {
    const message = String(error?.message ?? error);
    return { bad: /circular/i.test(message) ? 'it contains itself' : message };
  }
}

async function call({ tool, args }) {
  const run = tools.get(tool);
  if (!run) return { unknown: [...tools.keys()] };
  let value;
  try {
    value = await run(JSON.parse(args), state);
  } catch (error) {
    return { error: String(error?.message ?? error) };
  }
  return answerOf(value);
}

// One after the other, as they came: a tool that awaits must not see half of another's change.
let turn = Promise.resolve();
parentPort.on('message', (message) => {
  turn = turn.then(async () => {
    const answer = message.t === 'state' ? answerOf(state) : await call(message);
    parentPort.postMessage({ t: 'answer', id: message.id, ...answer, ...(printed ? { printed } : {}) });
    printed = '';
  });
});
