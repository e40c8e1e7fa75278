import path from 'node:path';
import type { Environment } from '../../core/environment/types';
import { reasonOf, UserError } from '../../core/user-error';
import type { LoadedEnvironment } from '../services';

/** Throws `UserError` with the first thing that is wrong. */
export function usable({ file, environment, diagnostics }: LoadedEnvironment): Environment {
  if (environment) return environment;
  const first = diagnostics.find(({ severity }) => severity === 'error');
  throw new UserError(
    `${path.basename(file)} cannot be used: ${reasonOf(first?.message ?? 'it cannot be read')}.`,
    first?.next ?? 'Correct it; the Problems view shows the place.',
  );
}
