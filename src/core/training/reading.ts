/** What reading a training file needs: the files beside it, and words for what it does not know. */
import type { Place, Report } from '../environment/diagnostics';
import type { Entry } from '../environment/source';
import type { ReadState } from '../environment/states';
import type { Environment } from '../environment/types';

export interface LoadedEnvironmentFile {
  environment: Environment | null;
  /** Messages of its errors. */
  errors: readonly string[];
  /** Absolute. */
  file: string;
  /** Folder that holds it. */
  folder: string;
  /** An initial state named relative to that folder; rejects with the reason. Else states are not looked at. */
  state?: ReadState;
}

export interface FileSource {
  /** Text of a file, its name relative to the training file; rejects with the reason. */
  read(relative: string): Promise<string>;
  /** The environment, its name relative to the training file; rejects with the reason. */
  loadEnvironment(relative: string): Promise<LoadedEnvironmentFile>;
}

/** Reads files beside the training file. */
export class Files {
  constructor(
    private readonly options: FileSource,
    private readonly report: Report,
  ) {}

  async text(name: string, place: Place): Promise<string | null> {
    return this.reading(name, place, () => this.options.read(name));
  }

  async environment(name: string, place: Place): Promise<LoadedEnvironmentFile | null> {
    return this.reading(name, place, () => this.options.loadEnvironment(name));
  }

  private async reading<T>(name: string, place: Place, read: () => Promise<T>): Promise<T | null> {
    if (/^([/\\~]|[a-z][a-z0-9+.-]*:)|\0/i.test(name)) {
      const message = `${JSON.stringify(name)} is not a name relative to the training file and was not read.`;
      this.report.error(place, 'file', message, 'Name it relative to the training file.');
      return null;
    }
    try {
      return await read();
    } catch (error) {
      const { code, message, next } = error as { code?: string; message?: string; next?: string };
      const why =
        code === 'ENOENT' ? 'there is no such file' : (message ?? String(error)).replace(/[.\s]+$/, '');
      this.report.error(
        place,
        'file',
        `${name} could not be read: ${why}.`,
        next ?? 'Create the file, or correct its name.',
      );
      return null;
    }
  }
}

/** A misspelt setting would train for hours with another value than the author meant. */
export function unknownField(root: Entry, path: string[], known: readonly string[], report: Report): void {
  const name = path.at(-1)!;
  const where = path.length > 1 ? `"${path.slice(0, -1).join('.')}"` : 'A training file';
  const close = known.find((one) => distance(one.toLowerCase(), name.toLowerCase()) <= 2);
  report.error(
    root.keyPlace(path),
    'unknown-field',
    `${where} has no field ${JSON.stringify(name)}.`,
    close
      ? `Did you mean ${JSON.stringify(close)}?`
      : `Its fields are: ${known.filter((k) => k !== '$schema').join(', ')}.`,
  );
}

/** Edit distance (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length]!;
}

/** The opening brace: a missing field is told there, not over the whole file. */
export function headOf(entry: Entry): Place {
  return { ...entry.place(), length: 1 };
}
