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

export function nats(value: number): string {
  return `${value.toFixed(2)} nats`;
}

/** "2.6 s", "3 min 20 s". */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const rounded = Math.round(seconds);
  return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
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
