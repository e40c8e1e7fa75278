/** Finding a Python, and making the virtual environment that the engine runs in. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { errors, oneLine } from '../errors';
import type { Home } from './home';
import { runLines, runQuietly } from './process';
import pythons from './pythons.json';

const [MAJOR = 0, MINOR = 0] = pythons.minimum;

/** What setting up fetches and writes: said before it starts. */
export const SETUP_SIZE =
  'about 1 GB; up to 5 GB on Linux with an NVIDIA GPU, where PyTorch brings its libraries';

/** The same where an earlier version has set up all that it needed: what training needs is added. */
export const UPGRADE_SIZE = 'about 10 MB, what training needs';

const PROBE = `
import importlib.util as u, json, sys
has = lambda names: all(u.find_spec(n) for n in names)
print(json.dumps({
  "version": sys.version_info[:3],
  "venv": has(["venv", "ensurepip"]),
  "engine": has(["torch", "transformers", "tokenizers", "safetensors", "fastapi", "uvicorn", "orjson", "numpy"]),
}))
`;

export interface Python {
  command: string;
  version: string;
  /** The engine's packages are installed there already. */
  hasEngine: boolean;
}

/**
 * The Python to use: the one named (argument, then REHEARSAL_PYTHON), else the first of the usual names that is
 * new enough. Throws `NodeError` that says what was found instead.
 */
export async function findPython(named?: string): Promise<Python> {
  const given = named || process.env.REHEARSAL_PYTHON;
  // The engine runs in another folder: a relative path must not depend on that.
  const wanted = given && /[\\/]/.test(given) ? path.resolve(given) : given;
  const seen: string[] = [];
  for (const command of wanted ? [wanted] : pythons.commands) {
    const facts = await probe(command);
    if (!facts) continue;
    const version = facts.version.join('.');
    const [major = 0, minor = 0] = facts.version;
    const tooOld = major < MAJOR || (major === MAJOR && minor < MINOR);
    if (tooOld) seen.push(`${command} is ${version}`);
    else if (!facts.venv && !facts.engine)
      seen.push(`${command} ${version} has no venv module; on Debian and Ubuntu: apt install python3-venv`);
    else return { command, version, hasEngine: facts.engine };
  }
  throw errors.noPython(
    seen.length ? `found: ${seen.join('; ')}` : `${wanted ?? 'neither python3 nor python'} does not run`,
  );
}

async function probe(command: string): Promise<{ version: number[]; venv: boolean; engine: boolean } | null> {
  const { code, output } = await runQuietly(command, ['-c', PROBE]);
  if (code !== 0) return null;
  try {
    return JSON.parse(output.trim().split('\n').pop() ?? '');
  } catch {
    return null;
  }
}

/**
 * The interpreter that runs the engine: a named one that has the packages is used as it is; else a virtual
 * environment with the pinned versions, made once and continued where it was interrupted.
 */
export async function ensurePython(
  engine: string,
  home: Home,
  options: { python?: string; onProgress: (line: string) => void; signal?: AbortSignal },
): Promise<string> {
  const named = options.python || process.env.REHEARSAL_PYTHON;
  const folder = venvFolder(engine, home);
  const isWhole = () => fs.existsSync(path.join(folder, WHOLE));
  if (!named && isWhole()) return interpreter(folder);
  const python = await findPython(options.python);
  if (named && python.hasEngine) return python.command;
  if (isWhole()) return interpreter(folder);
  await install(python, engine, folder, options);
  fs.writeFileSync(path.join(folder, WHOLE), `${python.version}\n`);
  return interpreter(folder);
}

/** Written when everything is installed. Earlier versions, which did not train, wrote another name. */
const WHOLE = '.complete-with-learning';
const WITHOUT_LEARNING = '.complete';

/** What `ensurePython` would download: people are asked before that. Null where it is nothing. */
export async function installSize(engine: string, home: Home, python?: string): Promise<string | null> {
  const folder = venvFolder(engine, home);
  if (fs.existsSync(path.join(folder, WHOLE))) return null;
  const named = python || process.env.REHEARSAL_PYTHON;
  if (named && (await findPython(named)).hasEngine) return null;
  return sizeOf(folder);
}

function sizeOf(folder: string): string {
  return fs.existsSync(path.join(folder, WITHOUT_LEARNING)) ? UPGRADE_SIZE : SETUP_SIZE;
}

/** One virtual environment for each set of pinned packages. */
function venvFolder(engine: string, home: Home): string {
  const pins = fs.readFileSync(path.join(engine, 'pyproject.toml'));
  return path.join(home.pythons, createHash('sha256').update(pins).digest('hex').slice(0, 12));
}

function interpreter(folder: string): string {
  return process.platform === 'win32'
    ? path.join(folder, 'Scripts', 'python.exe')
    : path.join(folder, 'bin', 'python');
}

async function install(
  python: Python,
  engine: string,
  folder: string,
  { onProgress, signal }: { onProgress: (line: string) => void; signal?: AbortSignal },
): Promise<void> {
  const uv = (await runQuietly('uv', ['--version'])).code === 0;
  onProgress(
    `Setting up the engine with Python ${python.version} and ${uv ? 'uv' : 'pip'}: ${sizeOf(folder)}. Once, some minutes.`,
  );
  const run = async (step: string, command: string, args: string[]) => {
    const last: string[] = [];
    const code = await runLines(
      command,
      args,
      (line) => {
        if (last.push(line) > 20) last.shift();
        if (TELLING.test(line)) onProgress(oneLine(line, 100));
      },
      signal,
    );
    if (signal?.aborted) throw errors.cancelled('Setting the server up');
    if (code !== 0)
      throw errors.setupFailed(
        step,
        last.filter((line) => /error/i.test(line)).pop() ?? last.pop() ?? `exit code ${code}`,
      );
  };
  if (!fs.existsSync(interpreter(folder))) {
    onProgress('Making a virtual environment …');
    const args = uv ? ['venv', '--python', python.command, folder] : ['-m', 'venv', folder];
    await run('making a virtual environment', uv ? 'uv' : python.command, args);
  }
  const requirements = path.join(folder, 'requirements.txt');
  fs.writeFileSync(requirements, await requirementsOf(python.command, engine));
  onProgress('Installing PyTorch and the engine’s packages …');
  const pip = [
    '-m',
    'pip',
    'install',
    '--disable-pip-version-check',
    '--progress-bar',
    'off',
    '-r',
    requirements,
  ];
  const viaUv = [
    'pip',
    'install',
    '--torch-backend=auto',
    '--python',
    interpreter(folder),
    '-r',
    requirements,
  ];
  await run('installing packages', uv ? 'uv' : interpreter(folder), uv ? viaUv : pip);
}

/** Lines of pip and uv that say how far it is. */
const TELLING =
  /^\s*(Downloading|Installing collected|Successfully installed|Resolved|Prepared|Installed|Downloaded)/;

/** The pinned packages, those of learning too, read by Python itself. */
async function requirementsOf(python: string, engine: string): Promise<string> {
  const script = `
import sys, tomllib
project = tomllib.load(open(sys.argv[1], "rb"))["project"]
print("\\n".join(project["dependencies"] + project["optional-dependencies"]["learning"]))
`;
  const { code, output } = await runQuietly(python, ['-c', script, path.join(engine, 'pyproject.toml')]);
  if (code !== 0) throw errors.setupFailed('reading the pinned versions', output);
  return output;
}
