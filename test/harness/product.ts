import path from 'node:path';
import { ROOT } from './workbench';

/** Environment of the product under test: its Python is the development one, made by `npm test`. */
export function productEnvironment(): Record<string, string> {
  return { REHEARSAL_PYTHON: path.join(ROOT, '.venv/bin/python') };
}
