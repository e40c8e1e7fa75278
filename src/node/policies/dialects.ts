/**
 * The ways in which servers write tokens and their log-probabilities, read into one form. Seen in
 * recordings of llama.cpp, vLLM and our own engine; whatever a server leaves out is null.
 */

/** One token as far as the server told. */
export interface RawToken {
  id: number;
  /** Raw bytes, or null where the server gives text only. */
  bytes: number[] | null;
  logprob: number | null;
  entropy: number | null;
  rank: number | null;
  top: { id: number; bytes: number[] | null; logprob: number }[];
}

/** One event of a stream of completions. */
export interface Chunk {
  tokens: RawToken[];
  text: string;
  finish: string | null;
}

/** `content`: entries with ids, as llama.cpp and our engine write them. `legacy`: vLLM's lists with `token_id:N`. */
export type LogprobForm = 'content' | 'legacy';

type Loose = { [key: string]: unknown };

const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null;
const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;
const finite = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** The form of a completion's answer, or what it lacks. */
export function formOf(answer: unknown): { form: LogprobForm } | { missing: string } {
  const choice = firstChoice(answer);
  if (!choice) return { missing: 'it gave no choice of a completion' };
  const logprobs = choice.logprobs;
  if (!isObject(logprobs)) return { missing: 'it gives no log-probabilities' };
  if (Array.isArray(logprobs.content)) {
    const [entry] = logprobs.content;
    return isObject(entry) && isId(entry.id)
      ? { form: 'content' }
      : { missing: 'its log-probabilities have no token ids' };
  }
  if (!Array.isArray(choice.token_ids)) return { missing: 'it does not return token ids' };
  const [first] = Array.isArray(logprobs.tokens) ? logprobs.tokens : [];
  return idOf(first) === null ? { missing: 'its alternatives have no token ids' } : { form: 'legacy' };
}

/** Reads one event. Throws nothing: what cannot be read is absent. */
export function readChunk(event: unknown, form: LogprobForm): Chunk {
  const choice = firstChoice(event);
  if (!choice) return { tokens: [], text: '', finish: null };
  return {
    tokens: form === 'content' ? contentTokens(choice) : legacyTokens(choice),
    text: typeof choice.text === 'string' ? choice.text : '',
    finish: typeof choice.finish_reason === 'string' ? choice.finish_reason : null,
  };
}

function firstChoice(event: unknown): Loose | null {
  const choices = isObject(event) ? event.choices : undefined;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(choice) ? choice : null;
}

function contentTokens(choice: Loose): RawToken[] {
  const list =
    isObject(choice.logprobs) && Array.isArray(choice.logprobs.content) ? choice.logprobs.content : null;
  if (!list) return idsAlone(choice);
  return list.filter(isObject).flatMap((entry): RawToken[] => {
    if (!isId(entry.id)) return [];
    const top = Array.isArray(entry.top_logprobs) ? entry.top_logprobs.filter(isObject) : [];
    return [
      {
        id: entry.id,
        bytes: bytesOf(entry.bytes),
        logprob: finite(entry.logprob),
        entropy: finite(entry.entropy),
        rank: isId(entry.rank) ? entry.rank : null,
        top: top.flatMap((other) => {
          const logprob = finite(other.logprob);
          return isId(other.id) && logprob !== null
            ? [{ id: other.id, bytes: bytesOf(other.bytes), logprob }]
            : [];
        }),
      },
    ];
  });
}

function legacyTokens(choice: Loose): RawToken[] {
  const { logprobs } = choice;
  if (!isObject(logprobs)) return idsAlone(choice);
  const names = Array.isArray(logprobs.tokens) ? logprobs.tokens : [];
  const ids = Array.isArray(choice.token_ids) ? choice.token_ids.filter(isId) : names.map(idOf).filter(isId);
  const own = Array.isArray(logprobs.token_logprobs) ? logprobs.token_logprobs : [];
  const tops = Array.isArray(logprobs.top_logprobs) ? logprobs.top_logprobs : [];
  return ids.map((id, index): RawToken => {
    const listed = isObject(tops[index]) ? Object.entries(tops[index]) : [];
    const top = listed
      .flatMap(([name, value]) => {
        const other = idOf(name);
        const logprob = finite(value);
        return other !== null && logprob !== null ? [{ id: other, bytes: null, logprob }] : [];
      })
      .sort((a, b) => b.logprob - a.logprob);
    return { id, bytes: null, logprob: finite(own[index]), entropy: null, rank: null, top };
  });
}

/** A gap in the log-probabilities: the ids still count. */
function idsAlone(choice: Loose): RawToken[] {
  const ids = Array.isArray(choice.token_ids) ? choice.token_ids.filter(isId) : [];
  return ids.map((id) => ({ id, bytes: null, logprob: null, entropy: null, rank: null, top: [] }));
}

function idOf(name: unknown): number | null {
  const found = typeof name === 'string' ? /^token_id:(\d+)$/.exec(name) : null;
  return found ? Number(found[1]) : null;
}

function bytesOf(value: unknown): number[] | null {
  const fine = Array.isArray(value) && value.every((byte) => isId(byte) && byte < 256);
  return fine ? (value as number[]) : null;
}

/** Text of bytes for display: what is no UTF-8 by itself shows as `\xNN`. */
export function displayText(bytes: readonly number[]): string {
  try {
    return STRICT.decode(Uint8Array.from(bytes));
  } catch {
    // a part of a character: piece by piece
  }
  let text = '';
  for (let i = 0; i < bytes.length; ) {
    const size = sequenceLength(bytes, i);
    if (size === 0) text += `\\x${bytes[i++]!.toString(16).padStart(2, '0')}`;
    else {
      text += STRICT.decode(Uint8Array.from(bytes.slice(i, i + size)));
      i += size;
    }
  }
  return text;
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Length of the valid UTF-8 character at `at`, or 0. */
function sequenceLength(bytes: readonly number[], at: number): number {
  for (let size = 1; size <= 4 && at + size <= bytes.length; size++) {
    try {
      STRICT.decode(Uint8Array.from(bytes.slice(at, at + size)));
      return size;
    } catch {
      // too short, or invalid
    }
  }
  return 0;
}
