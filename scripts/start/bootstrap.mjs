/** The steps of `npm start`, in order. Each is skipped when its result is there, so a second start is quick. */
import fs from 'node:fs';
import path from 'node:path';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { ROOT, run } from '../lib/process.mjs';
import { findPython } from '../lib/python.mjs';
import { chooseEditor, openDesktop, openRemote } from './editor.mjs';
import { startServer } from './server.mjs';
import { openBrowserWorkbench } from './workbench.mjs';

const HELP = `usage: npm start [-- options]

  (none)                  install what is missing, start the server, open examples/ in VS Code
  --browser               open the workbench in a browser even where desktop VS Code is installed
  --headless [ARGS]       step an example task in this terminal; ARGS go to \`rehearsal step\`
  --headless --json       the same as JSON lines (npm start --silent -- --headless --json keeps npm's own lines out)
  --no-open               only install, build and start the server
  --help                  this text
`;

/** @param {string[]} args what stands after \`npm start --\` */
export async function start(args) {
  if (args.includes('--help') && !args.includes('--headless')) return console.log(HELP);
  const headless = args.includes('--headless');
  // Standard output of a headless start is the rehearsal's; whatever is said about the start goes beside it.
  const log = headless ? (line) => console.error(`· ${line}`) : (line) => console.log(`· ${line}`);
  try {
    const unknown = headless ? [] : args.filter((a) => !['--browser', '--no-open'].includes(a));
    if (unknown.length) throw new Error(`Unknown option ${unknown.join(' ')}.\n\n${HELP}`);
    const python = await findPython();
    if (python.problem) throw new Error(python.problem);
    await ensureDependencies(log);
    const editor = chooseEditor({ browser: args.includes('--browser') });
    await ensureBuild(editor.kind === 'remote' && !headless, log);
    await startServer(log);
    if (headless) process.exitCode = await step(args);
    else if (args.includes('--no-open')) log('Stop the server with: node dist/cli.js serve --stop');
    else if (editor.kind === 'desktop') await openDesktop(editor, log);
    else if (editor.kind === 'remote') await openRemote(editor, log);
    else await openBrowserWorkbench(log);
  } catch (error) {
    console.error(`\n${error.message}\n`);
    process.exitCode = 1;
  }
}

/** Any build of the sources as they are does; a package is made of the production one. */
async function ensureBuild(production, log) {
  const { build, upToDate } = await import('../../build.mjs'); // late: it loads esbuild, an npm package
  if (upToDate(false) || upToDate(true)) return;
  log('building the extension and the server …');
  await build({ production });
}

function step(args) {
  const rest = args.filter((a) => a !== '--headless');
  const cli = path.join(ROOT, 'dist/cli.js');
  // Without a file of the person's own, the example that the README tells about.
  const named = rest.some((a) => fs.existsSync(a));
  const target = named ? [] : [path.join(ROOT, 'examples/shop/shop.rehearsal.json')];
  return run(process.execPath, [cli, 'step', ...target, ...rest], { cwd: process.cwd() });
}
