/** The command line: the same product without an editor, for terminals and CI. Documented in `docs/cli.md`. */

import { setMaxListeners } from 'node:events';
import { TemplateError } from '../core/conversation/render';
import { EmptyStreamError } from '../core/rehearsal/drivers';
import { printable } from '../core/text';
import { NodeError, UserError } from '../node/errors';
import { ExecutorError } from '../node/tools/failures';
import { UsageError } from './arguments';
import { check } from './check';
import { compare } from './compare';
import { run } from './run';
import { runs } from './runs';
import { serve } from './serve';
import { sessions } from './sessions';
import { step } from './step';
import { styleFor } from './style';
import { EXIT, type Terminal } from './terminal';
import { train } from './train';

const HELP = `usage: rehearsal COMMAND …

  check FILE…      tell what is wrong with environment and training files
  step FILE        rehearse one task, token by token
                     --task ID  --gesture token|output|turn|continue  --session SAVED.jsonl
                     --alternatives N
  run FILE         rehearse all tasks, or those named
                     --task ID…  --attempts K  --passes all|any  --concurrency N
                     --judge URL  --judge-model NAME  --judge-env VARIABLE
  compare FILE     hold rehearsed answers against the real tools'
                     --recorded  --held-out  --task ID…  --allow TOOL…  --junit FILE
                     --concurrency N  --against MODEL
  train FILE       train on the local server, and tell how it goes
                     --allow TOOL…  --steps N  --seed N  --variant NAME  --model NAME  --name NAME
                     --detach  --seeds 1,2,3  --variants rehearse,act-only,…
  runs [list]      list training runs; runs show, follow, stop, resume, delete ID
  runs metrics ID  flat lines of JSON  --csv  --tensorboard DIR  --out FILE
  runs rollouts ID   --step N  --out FILE
  runs export ID/STEP  --folder DIR  --merged
  runs compare A B   --part validation|test  --attempts K  --allow TOOL…  --seed N  --concurrency N
  serve            start the local server, or find the one that runs
                     --stop  --status  --foreground  --load [NAME=]MODEL…
  sessions [DIR]   list saved sessions

  step and run with real tools: --observations real  --allow TOOL…
  for step, run and compare: --model NAME  --seed N  --temperature T  --sessions DIR
                             --server URL  --token-env VARIABLE   (default: the local server)
  for all: --json (an object a line)

exit codes: 0 all passed · 1 a task or run failed, an answer differs, or a file has errors · 2 wrong use or unreadable input · 3 server trouble
`;

const COMMANDS: { [name: string]: (args: readonly string[], terminal: Terminal) => Promise<number> } = {
  check,
  step,
  run,
  compare,
  train,
  runs,
  serve,
  sessions,
};

/** Errors that are the server's, not the input's. */
const SERVER_CODE = /^(server-|tier-|setup-|python-|model-|context-|template-|run-unwritable)/;

async function main([name, ...args]: string[]): Promise<number> {
  const abort = new AbortController();
  setMaxListeners(0, abort.signal); // each rollout listens, which is many and no leak
  process.on('SIGINT', () => {
    // The second time there is nothing more to save.
    if (abort.signal.aborted) process.exit(EXIT.interrupted);
    abort.abort();
  });
  // Whoever reads may have seen enough (`| head`).
  process.stdout.on('error', () => process.exit(EXIT.ok));
  const terminal: Terminal = {
    page: { print: (line) => process.stdout.write(`${line}\n`), style: styleFor(process.stdout) },
    json: (value) => process.stdout.write(`${JSON.stringify(value)}\n`),
    say: (line) => process.stderr.write(`${printable(line)}\n`),
    signal: abort.signal,
    interactive: Boolean(process.stdin.isTTY && process.stdout.isTTY),
  };
  if (!name || name === 'help' || name === '--help' || args.includes('--help')) {
    process.stdout.write(HELP);
    return name ? EXIT.ok : EXIT.usage;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  try {
    if (!command) throw new UsageError(`There is no command ${name}.`);
    return await command(args, terminal);
  } catch (error) {
    if (args.includes('--json')) terminal.json(errorEvent(error));
    terminal.say(messageOf(error));
    return codeOf(error);
  }
}

function messageOf(error: unknown): string {
  if (error instanceof UserError) return `${error.message} ${error.next}`;
  if (error instanceof UsageError) return `${error.message} \`rehearsal help\` shows how.`;
  if (error instanceof EmptyStreamError || error instanceof TemplateError) return error.message;
  return `Something went wrong inside Rehearsal Studio: ${error instanceof Error ? error.stack : String(error)}`;
}

function errorEvent(error: unknown): object {
  const { code, next } = error as { code?: string; next?: string };
  const message = error instanceof Error ? error.message : String(error);
  return { type: 'error', error: message, ...(code ? { code } : {}), ...(next ? { next } : {}) };
}

function codeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof ExecutorError) return EXIT.usage;
  if (error instanceof NodeError) {
    if (error.code === 'cancelled') return EXIT.interrupted;
    return SERVER_CODE.test(error.code) ? EXIT.server : EXIT.usage;
  }
  return EXIT.server;
}

process.exitCode = await main(process.argv.slice(2));
