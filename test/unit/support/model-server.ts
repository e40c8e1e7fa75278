/**
 * A model server that answers from a list: for the dialects of servers that cannot run in a test, as they were
 * recorded, and for servers that misbehave.
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Exchange {
  path: string;
  body: { [field: string]: unknown };
}

export type Answer = object | string | ((response: ServerResponse, exchange: Exchange) => void);

export interface FakeServer {
  url: string;
  /** Everything that was asked. */
  asked: Exchange[];
  close(): Promise<void>;
}

/** `answer` is asked for each request; undefined means 404. An object is JSON, a string an event stream. */
export async function modelServer(answer: (exchange: Exchange) => Answer | undefined): Promise<FakeServer> {
  const asked: Exchange[] = [];
  const server = http.createServer(async (request, response) => {
    const exchange = { path: request.url ?? '/', body: await bodyOf(request) };
    asked.push(exchange);
    const given = answer(exchange);
    if (typeof given === 'function') return given(response, exchange);
    if (given === undefined) return json(response, 404, { error: { message: 'Not Found' } });
    if (typeof given === 'object') return json(response, 200, given);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(given);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<{ [field: string]: unknown }> {
  let text = '';
  for await (const part of request) text += part;
  return text ? JSON.parse(text) : {};
}

/** Whole words and special tokens as ids; enough of a tokenizer to answer for a server. */
export const WORDS: { [id: number]: string } = {
  1: '<|im_start|>',
  2: '<|im_end|>',
  5: '<tool_call>',
  10: '\n',
  11: 'user',
  12: 'assistant',
  20: 'a',
  21: 'b',
  22: 'c',
  23: 'd',
  24: 'zz',
  28: ',',
  30: '.',
  260: ' the',
  657: ' It',
  4528: ' London',
  7042: ' Paris',
};

export function encode(text: string): number[] {
  const ids: number[] = [];
  const known = Object.entries(WORDS).sort(([, a], [, b]) => b.length - a.length);
  for (let at = 0; at < text.length; ) {
    const found = known.find(([, word]) => text.startsWith(word, at));
    ids.push(found ? Number(found[0]) : 1000 + text.charCodeAt(at));
    at += found ? found[1].length : 1;
  }
  return ids;
}

export function decode(ids: readonly number[]): string {
  const known = (id: number) => WORDS[id] ?? (id >= 1000 ? String.fromCharCode(id - 1000) : null);
  return ids
    .map((id, index) =>
      id === 159 && ids[index - 1] === 240
        ? 'é'
        : id === 240 && ids[index + 1] === 159
          ? ''
          : (known(id) ?? '\ufffd'),
    )
    .join('');
}

interface ChatMessage {
  role: string;
  content: string;
}

function chatml(messages: ChatMessage[], generationPrompt: boolean): string {
  const text = messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`).join('');
  return generationPrompt ? `${text}<|im_start|>assistant\n` : text;
}

/** The routes of vLLM besides completions. */
export function vllm(completions: (exchange: Exchange) => Answer | undefined) {
  return (exchange: Exchange): Answer | undefined => {
    const { path, body } = exchange;
    if (path === '/v1/models')
      return { object: 'list', data: [{ id: 'smollm2', owned_by: 'vllm', max_model_len: 2048 }] };
    if (path === '/tokenize') {
      const text = body.messages
        ? chatml(body.messages as ChatMessage[], body.add_generation_prompt !== false)
        : String(body.prompt);
      return { tokens: encode(text), count: 0, max_model_len: 2048 };
    }
    if (path === '/detokenize') return { prompt: decode(body.tokens as number[]) };
    return path === '/v1/completions' ? completions(exchange) : undefined;
  };
}

/** The routes of llama.cpp besides completions: a last assistant message is continued, as it really is. */
export function llama(completions: (exchange: Exchange) => Answer | undefined) {
  return (exchange: Exchange): Answer | undefined => {
    const { path, body } = exchange;
    if (path === '/v1/models')
      return { data: [{ id: 'smol.gguf', owned_by: 'llamacpp', meta: { n_ctx: 2048 } }] };
    if (path === '/apply-template') {
      const messages = body.messages as ChatMessage[];
      const last = messages.at(-1)!;
      if (last.role !== 'assistant')
        return { prompt: chatml(messages, body.add_generation_prompt !== false) };
      return { prompt: chatml(messages.slice(0, -1), true) + last.content };
    }
    if (path === '/tokenize') return { tokens: typeof body.content === 'string' ? encode(body.content) : [] };
    if (path === '/detokenize') return { content: decode(body.tokens as number[]) };
    return path === '/v1/completions' ? completions(exchange) : undefined;
  };
}
