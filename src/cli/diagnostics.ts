/** Where a problem of a file stands, as terminals and editors know it. */
import path from 'node:path';
import type { Place } from '../core/environment/diagnostics';
import { type EnvironmentFile, positionOf } from '../node/environments';

/** `folder/file.json:3:5` */
export function whereOf(file: string, loaded: Pick<EnvironmentFile, 'texts'>, place: Place): string {
  const { line, column } = positionOf(loaded, place);
  return `${fileOf(file, place)}:${line}:${column}`;
}

/** The file that a place of an environment or training file is in, as that file was named. */
export function fileOf(file: string, place: { file?: string }): string {
  return place.file ? path.join(path.dirname(file), place.file) : file;
}
