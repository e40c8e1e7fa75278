/** Points in time as tools write them. Nothing here depends on where the program runs. */
import type { Json } from '../json';

export interface Time {
  /** Seconds since 1970. */
  seconds: number;
  /** Whether it says its zone; two times can be compared where both do, or neither. */
  zoned: boolean;
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|UTC|GMT|[+-]\d\d:?\d\d)?)?$/i;
const RFC2822 =
  /^(?:[A-Za-z]{3},? )?(\d{1,2}) ([A-Za-z]{3}) (\d{4}) (\d\d):(\d\d)(?::(\d\d))?\s*(Z|UTC|GMT|[+-]\d{4})?$/;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Unix times in seconds reach this in the year 5138; larger numbers are milliseconds. */
const MILLISECONDS = 1e11;

/** The time that a text or a Unix time says, or null. */
export function timeOf(value: Json): Time | null {
  if (typeof value === 'number') {
    return { seconds: Math.abs(value) >= MILLISECONDS ? value / 1000 : value, zoned: true };
  }
  if (typeof value !== 'string' || value.length > 64) return null;
  const text = value.trim();
  const iso = ISO.exec(text);
  if (iso) {
    const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', zone] = iso;
    return at([year, month, day, hour, minute, second].map(Number), Number(`0.${fraction}`), zone);
  }
  const mail = RFC2822.exec(text);
  const month = mail ? MONTHS.indexOf(mail[2]!.toLowerCase()) + 1 : 0;
  if (!mail || !month) return null;
  const [, day, , year, hour, minute, second = '0', zone] = mail;
  return at([Number(year), month, Number(day), Number(hour), Number(minute), Number(second)], 0, zone);
}

function at(parts: number[], fraction: number, zone: string | undefined): Time | null {
  const [year, month, day, hour, minute, second] = parts as [number, number, number, number, number, number];
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return null;
  const offset = zone && /^[+-]/.test(zone) ? minutesOf(zone) : 0;
  const seconds = Date.UTC(year, month - 1, day, hour, minute, second) / 1000 + fraction - offset * 60;
  return { seconds, zoned: zone !== undefined };
}

function minutesOf(zone: string): number {
  const digits = zone.replace(/\D/g, '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return zone.startsWith('-') ? -minutes : minutes;
}
