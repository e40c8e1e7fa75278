/** `rehearsal sessions`: the saved ones, newest first. */
import path from 'node:path';
import { printable } from '../core/text';
import { sessionsFolder } from '../node/sessions/file';
import { listSessions } from '../node/sessions/list';
import { parse, UsageError } from './arguments';
import { workspaceOf } from './places';
import { EXIT, type Terminal } from './terminal';

export async function sessions(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, { json: { type: 'boolean' }, sessions: { type: 'string' } });
  if (positionals.length > 1) throw new UsageError('Name one folder, or none for this one.');
  const folder = values.sessions ?? sessionsFolder(workspaceOf(path.join(positionals[0] ?? '.', 'any')));
  const { sessions: found, broken } = listSessions(folder);
  const { print, style } = terminal.page;
  for (const session of found) {
    if (values.json) {
      terminal.json({ type: 'session', ...session });
      continue;
    }
    const reward = session.done ? (session.reward?.toFixed(2) ?? 'unscored') : 'open';
    const what = `${printable(session.environment)} · ${printable(session.task)} · ${printable(session.model)}`;
    print(`${session.id}  ${reward.padEnd(8)}  ${String(session.tokens).padStart(6)} tokens  ${what}`);
  }
  for (const { path: file, reason } of broken) {
    if (values.json) terminal.json({ type: 'broken', path: file, reason });
    else print(style.warn(`${path.basename(file)}: ${printable(reason)}`));
  }
  if (found.length + broken.length === 0 && !values.json) print(`There are no sessions in ${folder}.`);
  return EXIT.ok;
}
