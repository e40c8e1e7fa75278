/** Finding a Python that the engine runs on. */
import { capture } from './process.mjs';

export const MINIMUM_PYTHON = [3, 11];

const CANDIDATES = ['python3', 'python', 'python3.13', 'python3.12', 'python3.11', 'python3.14'];
const PROBE = "import sys; print('%d.%d.%d' % sys.version_info[:3]); import venv, ensurepip";

/**
 * The first Python ≥ 3.11 with `venv`, by $REHEARSAL_PYTHON and then by the usual names.
 * @returns {Promise<{command: string, version: string} | {problem: string}>} `problem` says what to do.
 */
export async function findPython() {
  const named = process.env.REHEARSAL_PYTHON;
  const seen = [];
  for (const command of named ? [named] : CANDIDATES) {
    const { code, output } = await capture(command, ['-c', PROBE]);
    const version = /^\d+\.\d+\.\d+$/m.exec(output)?.[0];
    if (!version) continue;
    const [major, minor] = version.split('.').map(Number);
    if (major < MINIMUM_PYTHON[0] || (major === MINIMUM_PYTHON[0] && minor < MINIMUM_PYTHON[1])) {
      seen.push(`${command} is ${version}`);
    } else if (code !== 0) {
      seen.push(`${command} ${version} has no venv module (on Debian and Ubuntu: apt install python3-venv)`);
    } else return { command, version };
  }
  const found = seen.length
    ? `found: ${seen.join('; ')}`
    : `none of ${named ?? CANDIDATES.slice(0, 2).join(', ')} runs`;
  return {
    problem:
      `The engine needs Python ${MINIMUM_PYTHON.join('.')} or newer (${found}).\n` +
      'Install one from python.org or your package manager, or name one by REHEARSAL_PYTHON=/path/to/python.',
  };
}
