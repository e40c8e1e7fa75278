/** Finding a Python that the engine runs on, before there is anything built that could. */
import fs from 'node:fs';
import path from 'node:path';
import { capture, ROOT } from './process.mjs';

/** The same as the product looks for. */
const { minimum, commands } = JSON.parse(
  fs.readFileSync(path.join(ROOT, 'src/node/server/pythons.json'), 'utf8'),
);
const PROBE = "import sys; print('%d.%d.%d' % sys.version_info[:3]); import venv, ensurepip";

/**
 * The first Python ≥ 3.11 with `venv`, by $REHEARSAL_PYTHON and then by the usual names.
 * @returns {Promise<{command: string, version: string} | {problem: string}>} `problem` says what to do.
 */
export async function findPython() {
  const named = process.env.REHEARSAL_PYTHON;
  const seen = [];
  for (const command of named ? [named] : commands) {
    const { code, output } = await capture(command, ['-c', PROBE]);
    const version = /^\d+\.\d+\.\d+$/m.exec(output)?.[0];
    if (!version) continue;
    const [major, minor] = version.split('.').map(Number);
    if (major < minimum[0] || (major === minimum[0] && minor < minimum[1])) {
      seen.push(`${command} is ${version}`);
    } else if (code !== 0) {
      seen.push(`${command} ${version} has no venv module (on Debian and Ubuntu: apt install python3-venv)`);
    } else return { command, version };
  }
  const found = seen.length
    ? `found: ${seen.join('; ')}`
    : `none of ${named ?? commands.slice(0, 2).join(', ')} runs`;
  return {
    problem:
      `The engine needs Python ${minimum.join('.')} or newer (${found}).\n` +
      'Install one from python.org or your package manager, or name one by REHEARSAL_PYTHON=/path/to/python.',
  };
}
