/** `rehearsal check`: what is wrong with environment files, with the place and the next step. */
import path from 'node:path';
import { printable } from '../core/text';
import { type EnvironmentFile, positionOf, readEnvironment } from '../node/environments';
import { parse, UsageError } from './arguments';
import { EXIT, type Terminal } from './terminal';

export async function check(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, { json: { type: 'boolean' } });
  if (positionals.length === 0) throw new UsageError('Name at least one environment file.');
  let errors = 0;
  for (const file of positionals) {
    const loaded = await readEnvironment(file);
    errors += loaded.diagnostics.filter(({ severity }) => severity === 'error').length;
    if (values.json) terminal.json(asJson(file, loaded));
    else print(file, loaded, terminal);
  }
  return errors > 0 ? EXIT.failed : EXIT.ok;
}

function asJson(file: string, loaded: EnvironmentFile): object {
  const { environment, diagnostics } = loaded;
  return {
    type: 'check',
    file,
    environment: environment?.name ?? null,
    tools: environment?.tools.map(({ name }) => name) ?? [],
    tasks: environment?.tasks.map(({ id }) => id) ?? [],
    diagnostics: diagnostics.map(({ severity, code, message, next, ...place }) => ({
      severity,
      code,
      message,
      ...(next ? { next } : {}),
      file: fileOf(file, place),
      ...positionOf(loaded, place),
    })),
  };
}

function print(file: string, loaded: EnvironmentFile, { page: { print: out, style } }: Terminal): void {
  const { environment, diagnostics } = loaded;
  const colours = { error: style.bad, warning: style.warn, information: style.dim };
  for (const { severity, message, next, code, ...place } of diagnostics) {
    const { line, column } = positionOf(loaded, place);
    const where = `${fileOf(file, place)}:${line}:${column}`;
    out(
      `${where}: ${colours[severity](severity)}: ${printable(message)} ${printable(next ?? '')} ${style.dim(`[${code}]`)}`,
    );
  }
  if (!environment) {
    out(`${file}: ${style.bad('cannot be used')}`);
    return;
  }
  const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;
  const parts = [
    count(environment.tools.length, 'tool'),
    count(environment.tasks.length, 'task'),
    count(environment.examples.length, 'recorded call'),
    count(diagnostics.filter(({ severity }) => severity === 'error').length, 'error'),
    count(diagnostics.filter(({ severity }) => severity === 'warning').length, 'warning'),
  ];
  out(`${file}: ${printable(environment.name)}, ${parts.join(', ')}`);
}

function fileOf(environment: string, place: { file?: string }): string {
  return place.file ? path.join(path.dirname(environment), place.file) : environment;
}
