/** What can go wrong with the folder of a run, as people read it. */
import { reasonOf } from '../../core/user-error';
import { NodeError, oneLine } from '../errors';

const reason = (thrown: unknown) => oneLine(reasonOf(thrown));

export const runErrors = {
  unknown: (id: string) =>
    new NodeError(
      'run-unknown',
      `There is no run ${oneLine(id, 100)}.`,
      '`rehearsal runs` lists those that there are.',
    ),
  unreadable: (id: string, thrown: unknown) =>
    new NodeError(
      'run-unreadable',
      `The run ${id} cannot be read: ${reason(thrown)}.`,
      'Its folder is left as it is; delete the run where it is of no use.',
    ),
  unwritable: (folder: string, thrown: unknown) =>
    new NodeError(
      'run-unwritable',
      `The run cannot be written to ${folder}: ${reason(thrown)}.`,
      'Free space or check the rights of the folder, then resume the run: it goes on from its last checkpoint.',
    ),
  taken: (id: string, holder: string) =>
    new NodeError(
      'run-taken',
      `The run ${id} is being written by another program (${holder}).`,
      'Wait until it has ended, or end that program.',
    ),
  tooLarge: (model: string, needed: string, free: string, weights: string) =>
    new NodeError(
      'run-too-large',
      `Training ${oneLine(model, 100)} needs ${needed} of memory, and ${free} are free.`,
      weights === 'full'
        ? 'Write "weights": "lora", or choose a smaller model or a machine with more memory.'
        : 'Choose a smaller model, or a machine with more memory.',
    ),
  refused: (why: string) =>
    new NodeError(
      'run-refused',
      `The run was not started: ${reason(why)}.`,
      'Check the training file, and that window and server are of the same version.',
    ),
  request: (why: string) =>
    new NodeError(
      'run-refused',
      `The server did not do this: ${reason(why)}.`,
      'Correct it; `rehearsal runs` lists the runs that there are.',
    ),
  output: (file: string, thrown: unknown) =>
    new NodeError(
      'run-unwritable',
      `${oneLine(file)} cannot be written: ${reason(thrown)}.`,
      'Free space, or name another place.',
    ),
  state: (id: string, what: string, next: string) =>
    new NodeError('run-state', `The run ${id} ${what}.`, next),
};
