/** `rehearsal check`: what is wrong with environment and training files, with the place and the next step. */
import { printable } from '../core/text';
import { errorText } from '../core/user-error';
import { type EnvironmentFile, positionOf, readEnvironment } from '../node/environments';
import { isTrainingFile, readTraining, type TrainingFileRead } from '../node/training-files';
import { parse, UsageError } from './arguments';
import { fileOf, whereOf } from './diagnostics';
import { EXIT, type Terminal } from './terminal';

export async function check(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, { json: { type: 'boolean' } });
  if (positionals.length === 0) throw new UsageError('Name at least one environment or training file.');
  let errors = 0;
  let unread: unknown;
  for (const file of positionals) {
    let loaded: Checked;
    try {
      loaded = isTrainingFile(file) ? await readTraining(file) : await readEnvironment(file);
    } catch (error) {
      // The others are checked all the same; the last of these ends the command.
      if (unread !== undefined) terminal.say(errorText(unread));
      unread = error;
      continue;
    }
    errors += loaded.diagnostics.filter(({ severity }) => severity === 'error').length;
    if (values.json) terminal.json(asJson(file, loaded));
    else print(file, loaded, terminal);
  }
  if (unread !== undefined) throw unread;
  return errors > 0 ? EXIT.failed : EXIT.ok;
}

type Checked = EnvironmentFile | TrainingFileRead;

function asJson(file: string, loaded: Checked): object {
  return {
    type: 'check',
    file,
    ...('parts' in loaded ? trainingJson(loaded) : environmentJson(loaded)),
    diagnostics: loaded.diagnostics.map(({ severity, code, message, next, ...place }) => ({
      severity,
      code,
      message,
      ...(next ? { next } : {}),
      file: fileOf(file, place),
      ...positionOf(loaded, place),
    })),
  };
}

function environmentJson({ environment }: EnvironmentFile): object {
  return {
    environment: environment?.name ?? null,
    tools: environment?.tools.map(({ name }) => name) ?? [],
    tasks: environment?.tasks.map(({ id }) => id) ?? [],
  };
}

function trainingJson({ config, environment, parts }: TrainingFileRead): object {
  return {
    training: config?.name ?? null,
    environment: environment?.name ?? null,
    tasks: Object.fromEntries(
      Object.entries(parts).map(([part, tasks]) => [part, tasks.map(({ id }) => id)]),
    ),
    settings: config?.settings ?? null,
  };
}

function print(file: string, loaded: Checked, { page: { print: out, style } }: Terminal): void {
  const { diagnostics } = loaded;
  const colours = { error: style.bad, warning: style.warn, information: style.dim };
  for (const { severity, message, next, code, ...place } of diagnostics) {
    out(
      `${whereOf(file, loaded, place)}: ${colours[severity](severity)}: ${printable(message)} ${printable(next ?? '')} ${style.dim(`[${code}]`)}`,
    );
  }
  const name = 'parts' in loaded ? loaded.config?.name : loaded.environment?.name;
  if (name === undefined) {
    out(`${file}: ${style.bad('cannot be used')}`);
    return;
  }
  const parts = [
    ...('parts' in loaded ? trainingCounts(loaded) : environmentCounts(loaded)),
    count(diagnostics.filter(({ severity }) => severity === 'error').length, 'error'),
    count(diagnostics.filter(({ severity }) => severity === 'warning').length, 'warning'),
  ];
  out(`${file}: ${printable(name)}, ${parts.join(', ')}`);
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;

function environmentCounts({ environment }: EnvironmentFile): string[] {
  const { tools = [], tasks = [], examples = [] } = environment ?? {};
  return [count(tools.length, 'tool'), count(tasks.length, 'task'), count(examples.length, 'recorded call')];
}

function trainingCounts({ settings, parts }: TrainingFileRead): string[] {
  const sizes = Object.entries(parts).map(([part, tasks]) => `${tasks.length} ${part}`);
  return [settings.variant, count(settings.steps, 'step'), `tasks: ${sizes.join(', ')}`];
}
