import path from 'node:path';
import { venvPython } from '../../scripts/lib/test-machine.mjs';

/**
 * Environment of the product under test: the Python that `npm test` made, and a folder of its own for the local
 * server, so that a test neither finds nor replaces the server of whoever runs it.
 */
export function productEnvironment(scratch: string): Record<string, string> {
  return { REHEARSAL_PYTHON: venvPython, REHEARSAL_HOME: path.join(scratch, 'rehearsal-home') };
}
