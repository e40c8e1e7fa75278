/**
 * Runs tool modules: one worker for each session, all in this process, which is a child of the product. A worker
 * alone cannot contain memory; this process ends itself where its workers hold too much outside of their heaps.
 *
 * Messages from the parent: {t: 'open', s, file, state, heapMB}, {t: 'call', s, id, tool, args}, {t: 'state', s, id},
 * {t: 'close', s}. To the parent: {t: 'answer', s, id, …}, {t: 'opened', s, tools}, {t: 'ended', s, why, message},
 * {t: 'memory'}. `state`, `args` and answers are JSON texts.
 */
import { Worker } from 'node:worker_threads';

const WORKER = new URL('./worker.mjs', import.meta.url);
const limitBytes = Number(process.argv[2]) * 2 ** 20;
const workers = new Map();

const send = (message) => process.connected && process.send(message);

process.on('message', (message) => {
  const { t, s } = message;
  if (t === 'open') open(message);
  else if (t === 'close') {
    workers.get(s)?.terminate();
    workers.delete(s);
  } else workers.get(s)?.postMessage(message);
});
process.on('disconnect', () => process.exit());

function open({ s, file, state, heapMB }) {
  const worker = new Worker(WORKER, {
    workerData: { file, state },
    resourceLimits: { maxOldGenerationSizeMb: heapMB, maxYoungGenerationSizeMb: 16 },
    stdout: true,
    stderr: true,
    env: {},
    argv: [],
  });
  workers.set(s, worker);
  const ended = (why, message) => {
    if (workers.get(s) !== worker) return; // it was closed
    workers.delete(s);
    send({ t: 'ended', s, why, message });
  };
  worker.on('message', (message) => send({ ...message, s }));
  worker.on('error', (error) =>
    ended(error?.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'error', String(error?.message ?? error)),
  );
  worker.on('exit', (code) => ended('exit', `exit code ${code}`));
}

setInterval(() => {
  if (process.memoryUsage.rss() < limitBytes) return;
  send({ t: 'memory' });
  process.exit(70);
}, 100).unref();
