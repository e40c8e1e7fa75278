/** What counts as a record of a session file. A line that does not is damage, found before anything is shown of it. */
import { isObject } from '../../core/json';
import type { SessionRecord } from '../../core/rehearsal/session';

export type Header = Extract<SessionRecord, { t: 'session' }>;

/** Whether a value has the form of a record; whether it fits what stands before it shows as it is replayed. */
export function isRecord(value: unknown): value is SessionRecord {
  if (!isObject(value)) return false;
  const { t, id, parent, reply, at, tip } = value;
  if (t === 'reply') return isIndex(id) && isIndex(parent) && isReply(reply);
  return t === 'session' || (t === 'at' && isIndex(at) && isIndex(tip));
}

/** Whether a header has what is read of it without the session's own rules. */
export function isWhole({ id, created, environmentFile, setup }: Header): boolean {
  const texts = [id, created, environmentFile ?? ''].every((one) => typeof one === 'string');
  return texts && Array.isArray(setup?.task?.checks);
}

/** A draw was an `attempt` in files of before. */
export function renamed(record: SessionRecord): SessionRecord {
  if (record.t !== 'reply' || record.reply.kind !== 'prompt') return record;
  const { attempt, ...reply } = record.reply as typeof record.reply & { attempt?: unknown };
  return isIndex(attempt) ? { ...record, reply: { draw: attempt as number, ...reply } } : record;
}

const isIndex = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

const isAbsentOrIndex = (value: unknown) => value === undefined || isIndex(value);

/** Kinds that are not known are left to the replay, which says where they stand. */
function isReply(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { kind, ids, draw, token, text } = value;
  if (kind === 'prompt') return Array.isArray(ids) && ids.every(isIndex) && isAbsentOrIndex(draw);
  if (kind === 'token') return isToken(token);
  return kind !== 'user' || typeof text === 'string';
}

function isToken(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { id, text, bytes, alternatives } = value;
  const said = isIndex(id) && typeof text === 'string' && Array.isArray(bytes) && bytes.every(isIndex);
  return said && Array.isArray(alternatives) && alternatives.every(isObject);
}
