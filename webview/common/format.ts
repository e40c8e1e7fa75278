/** Numbers as people read them. */

const WHOLE = new Intl.NumberFormat('en-US');
const MINUS = '−';

export function whole(value: number): string {
  return WHOLE.format(value);
}

/** "0.912"; what would round to nothing says so. */
export function probability(logprob: number): string {
  const p = Math.exp(logprob);
  return p > 0 && p < 0.0005 ? '<0.001' : p.toFixed(3);
}

/** "91 percent", for screen readers. */
export function percent(logprob: number): string {
  const p = Math.exp(logprob) * 100;
  return p > 0 && p < 0.5 ? 'under 1 percent' : `${Math.round(p)} percent`;
}

/** Nats with a real minus sign: "−0.092". */
export function logprob(value: number): string {
  const text = Math.abs(value).toFixed(3);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}

/** Bits with two digits: "0.41". */
export function bits(value: number): string {
  return value.toFixed(2);
}

export function nats(value: number): string {
  return `${value.toFixed(2)} nats`;
}

/** "2.6 s", "3 min 20 s". */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const rounded = Math.round(seconds);
  return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
}

/** "0.4 ms", "31 ms", "2.6 s". */
export function milliseconds(ms: number): string {
  if (ms >= 1000) return duration(ms / 1000);
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

export function reward(value: number | null): string {
  return value === null ? '–' : value.toFixed(2);
}

/** "1 token", "12 tokens". */
export function count(value: number, unit: string): string {
  return `${whole(value)} ${unit}${value === 1 ? '' : 's'}`;
}

/** "turn_limit" as "turn limit". */
export function words(code: string): string {
  return code.replaceAll('_', ' ');
}

/** A share, reward or mean of them without its idle zero: ".97", "1", "−.12". */
export function share(value: number): string {
  const text = Math.abs(value).toFixed(2);
  const sign = value < 0 && Number(text) !== 0 ? MINUS : '';
  return `${sign}${text.replace(/^0(?=\.)/, '').replace(/\.00$/, '') || '0'}`;
}

/** A measure of any size with about three digits: "12,345", "4.2", ".008". */
export function figure(value: number): string {
  const size = Math.abs(value);
  const sign = value < 0 ? MINUS : '';
  if (size === 0) return '0';
  if (size < 0.001) return `${sign}<.001`;
  if (size >= 1e6) return `${sign}${(size / 1e6).toFixed(1)}M`;
  if (size >= 1e4) return `${sign}${(size / 1e3).toFixed(size >= 1e5 ? 0 : 1)}k`;
  if (size >= 100) return sign + whole(Math.round(size));
  const text = size >= 0.1 ? String(Number(size.toPrecision(2))) : size.toPrecision(1);
  return sign + text.replace(/^0(?=\.)/, '');
}

/** "12 s", "5 min", "2 h 10 min": how long something will take, no finer than anybody knows. */
export function about(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest ? ` ${rest} min` : ''}`;
}

/** "1.2 GiB". */
export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(count, 1)) / 10)));
  const value = count / 1024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}
