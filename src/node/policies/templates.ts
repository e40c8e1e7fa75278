/** Rendering conversations to token ids, in the two ways that servers offer it. */
import { openAiFunction } from '../../core/conversation/prompts';
import type { Message } from '../../core/conversation/types';
import type { RenderRequest, Signal } from '../../core/policy';
import { errors, NodeError } from '../errors';
import type { ModelServer } from './http';

export type Render = (request: RenderRequest, signal?: Signal) => Promise<number[]>;

const PROBE: RenderRequest = { messages: [{ role: 'user', content: 'a' }], generationPrompt: true };

/** The way that this server offers, or null where it offers none. */
export async function findRender(
  server: ModelServer,
  model: string,
  signal?: Signal,
): Promise<Render | null> {
  for (const render of [tokenizeMessages(server, model), applyTemplate(server, model)]) {
    try {
      if ((await render(PROBE, signal)).length > 0) return render;
    } catch (error) {
      if (!(error instanceof NodeError) || !ELSEWHERE.has(error.code)) throw error;
    }
  }
  return null;
}

/** Answers after which the other way may still work. */
const ELSEWHERE = new Set(['server-error', 'server-odd', 'template-refuses']);

/** vLLM and our engine: `/tokenize` takes messages. */
function tokenizeMessages(server: ModelServer, model: string): Render {
  return async ({ messages, tools, generationPrompt }, signal) => {
    const answer = await asked(
      server,
      model,
      '/tokenize',
      {
        model,
        messages,
        add_generation_prompt: generationPrompt,
        ...(tools?.length ? { tools: tools.map(asOpenAi) } : {}),
      },
      signal,
    );
    return idsOf(server, answer);
  };
}

/** llama.cpp: `/apply-template` gives text, `/tokenize` its ids. */
function applyTemplate(server: ModelServer, model: string): Render {
  async function written(
    { messages, tools, generationPrompt }: RenderRequest,
    signal?: Signal,
  ): Promise<number[]> {
    const answer = (await asked(
      server,
      model,
      '/apply-template',
      {
        messages,
        add_generation_prompt: generationPrompt,
        ...(tools?.length ? { tools: tools.map(asOpenAi) } : {}),
      },
      signal,
    )) as { prompt?: unknown };
    if (typeof answer?.prompt !== 'string')
      throw errors.odd(server.url, 'its /apply-template gives no prompt');
    // It leaves out a BOS that its tokenizer adds by itself, so specials are added here.
    const body = { content: answer.prompt, add_special: true, parse_special: true };
    return idsOf(server, await asked(server, model, '/tokenize', body, signal));
  }

  return async (request, signal) => {
    const last = request.messages[request.messages.length - 1];
    if (request.generationPrompt || last?.role !== 'assistant') return written(request, signal);
    // A last assistant message would be continued instead of ended: put a user's behind it, and cut that off.
    const user: Message = { role: 'user', content: 'c' };
    const before: Message = { role: 'user', content: 'a' };
    const full = await written({ ...request, messages: [...request.messages, user] }, signal);
    const other = await written(
      { messages: [before, { role: 'assistant', content: 'zz' }, user], generationPrompt: false },
      signal,
    );
    // What both share at the end begins with the end token of the assistant's message.
    const shared = commonSuffix(full, other);
    return full.slice(0, full.length - shared + 1);
  };
}

async function asked(server: ModelServer, model: string, path: string, body: object, signal?: Signal) {
  try {
    return await server.post(path, body as { [field: string]: unknown }, signal);
  } catch (error) {
    const refused =
      error instanceof NodeError && error.code === 'server-error' && /template/i.test(error.message);
    throw refused ? errors.template(model, error.message) : error;
  }
}

function asOpenAi(tool: Parameters<typeof openAiFunction>[0]) {
  return { type: 'function', function: openAiFunction(tool) };
}

function idsOf(server: ModelServer, answer: unknown): number[] {
  const { tokens } = (answer ?? {}) as { tokens?: unknown };
  if (!Array.isArray(tokens) || !tokens.every(Number.isInteger)) {
    throw errors.odd(server.url, 'its /tokenize gives no token ids');
  }
  return tokens;
}

function commonSuffix(a: readonly number[], b: readonly number[]): number {
  let n = 0;
  while (n < a.length && n < b.length && a[a.length - 1 - n] === b[b.length - 1 - n]) n++;
  return n;
}

/** The id with which the template ends an assistant's message, or null where it writes none. */
export async function templateEnd(
  render: Render,
  decode: (ids: readonly number[], signal?: Signal) => Promise<string>,
  signal?: Signal,
): Promise<number | null> {
  const said = (content: string) =>
    render(
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content },
        ],
        generationPrompt: false,
      },
      signal,
    );
  const [b, d] = await Promise.all([said('b'), said('d')]);
  const shared = commonSuffix(b, d);
  const end = shared > 0 ? b[b.length - shared] : undefined;
  // A line end between messages is no end token.
  return end !== undefined && (await decode([end], signal)).trim() ? end : null;
}
