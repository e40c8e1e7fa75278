/** What a model server may answer: so many bytes at most, and a refusal in the shape that the client reads. */
import { errors } from '../errors';
import { MOST_ANSWER } from './fetch';

/** The most that is held of one event of a stream. */
const MOST_EVENT = 4 << 20;

const LINE_END = 0x0a;

/**
 * Answers are bounded, since the client gathers whole lines and whole bodies. It also drops the reason of a refusal
 * that is not in OpenAI's shape (FastAPI's `detail`, plain text).
 */
export function withBounds(fetch: typeof globalThis.fetch, url: string): typeof globalThis.fetch {
  return async (input, init) => {
    return inOpenAIShape(bounded(await fetch(input, init), url));
  };
}

/** A refusal in OpenAI's shape, whatever shape it came in. */
export async function inOpenAIShape(response: Response): Promise<Response> {
  if (response.ok) return response;
  const headers = new Headers({ 'content-type': 'application/json' });
  const retry = response.headers.get('retry-after');
  if (retry !== null) headers.set('retry-after', retry);
  return new Response(errorShape(await response.text()), { status: response.status, headers });
}

function bounded(answer: Response, url: string): Response {
  const events = answer.headers.get('content-type')?.includes('event-stream') ?? false;
  const length = answer.headers.get('content-length');
  if (!answer.body || (!events && length !== null && Number(length) <= MOST_ANSWER)) return answer;
  const most = events ? MOST_EVENT : MOST_ANSWER;
  let held = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      const end = events ? part.lastIndexOf(LINE_END) : -1;
      held = end < 0 ? held + part.length : part.length - end - 1;
      if (held > most) throw errors.odd(url, `one of its answers is longer than ${most >> 20} MiB`);
      controller.enqueue(part);
    },
  });
  return new Response(answer.body.pipeThrough(counted), answer);
}

function errorShape(text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // plain text
  }
  const { error, detail, message } = (typeof body === 'object' && body ? body : {}) as {
    [field: string]: unknown;
  };
  if (typeof error === 'object' && error) return text;
  const reason = error ?? detail ?? message ?? text;
  return JSON.stringify({ error: { message: typeof reason === 'string' ? reason : JSON.stringify(reason) } });
}
