/** The command line as people have it: a program of its own, and what it said. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { productFolder } from './server';

export interface Ran {
  code: number;
  out: string;
  err: string;
  /** With `--json`: one value a line of the output. */
  lines: { [field: string]: unknown }[];
}

/** Starts `rehearsal` with nothing on its standard input. */
export async function startCli(args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  const program = path.join(await productFolder(), 'dist/cli.js');
  const child = spawn(process.execPath, [program, ...args], options);
  let out = '';
  let err = '';
  child.stdout.on('data', (part) => (out += part));
  child.stderr.on('data', (part) => (err += part));
  child.stdin.end();
  const ended = new Promise<Ran>((done) =>
    child.once('close', (code) => {
      const texts = args.includes('--json') ? out.trim().split('\n').filter(Boolean) : [];
      done({ code: code ?? -1, out, err, lines: texts.map((text) => JSON.parse(text)) });
    }),
  );
  return { child, ended, said: () => out + err };
}
