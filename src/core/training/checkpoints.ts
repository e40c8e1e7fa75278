/** Names of checkpoints as people write them. */

const START = /^([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)\/(?:step-)?(\d{1,9})$/;

/** Run and step of a checkpoint, from `run/step` as people write it; null where it is none. */
export function parentOf(start: string): { run: string; step: number } | null {
  const found = START.exec(start);
  return found ? { run: found[1]!, step: Number(found[2]) } : null;
}
