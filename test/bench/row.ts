/** What a row of the benchmark is; the rows themselves are in `rows/`. */
export interface Row {
  id: string;
  /** What is measured, in a few words, for the table. */
  what: string;
  unit: string;
  goal: number;
  better: 'higher' | 'lower';
  /** What the value is compared with: the other program, or the other condition. */
  peer: string;
  /** Several repetitions, all taken in this run on this machine: their values, or what another program made of them. */
  measure(bench: Bench): Promise<number[] | Measured>;
}

/** Median, smallest and largest of `n` repetitions. */
export interface Measured {
  value: number;
  n: number;
  min: number;
  max: number;
}

/** What rows share during one run. */
export interface Bench {
  /** Repository root. */
  root: string;
  /** Python of the repository's virtual environment. */
  python: string;
  /** A folder that is removed after the run. */
  scratch: string;
  /** Says what is going on, beside the table. */
  log(line: string): void;
  /** Gives the resource of this name, made by the first row that asks for it and ended after the last row. */
  shared<T>(name: string, make: () => Promise<{ value: T; end?: () => Promise<void> }>): Promise<T>;
}

export interface Result extends Measured {
  id: string;
  unit: string;
  goal: number;
  better: 'higher' | 'lower';
  peer: string;
}

/** The median, so that one disturbed repetition does not decide. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function toResult(row: Row, measured: number[] | Measured): Result {
  const { id, unit, goal, better, peer } = row;
  const { value, n, min, max } = Array.isArray(measured) ? summary(measured) : measured;
  return { id, value, unit, goal, better, peer, n, min, max };
}

function summary(values: number[]): Measured {
  return { value: median(values), n: values.length, min: Math.min(...values), max: Math.max(...values) };
}

export function goalMet({ value, goal, better }: Result): boolean {
  return better === 'higher' ? value >= goal : value <= goal;
}
