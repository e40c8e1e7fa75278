/** Failures of a learner, told apart so that a run can act on them. */
import { reasonOf, UserError } from '../../core/user-error';
import { oneLine } from '../errors';

export type LearnerErrorCode =
  /** A loss or gradient that is no number: the weights are as they were, the step's gradients are thrown away. */
  | 'not_finite'
  /** A checkpoint whose files are not what was written: take the one before. */
  | 'damaged'
  | 'not_found'
  /** A checkpoint could not be written: disk full, folder not writable. */
  | 'unwritable'
  /** It does not fit into memory. */
  | 'too_large'
  /** Session, model or request are unknown: the server was started again. Open a session and resume. */
  | 'lost'
  | 'refused'
  /** A defect of the server; its log has the details. */
  | 'failed';

const NEXT: Record<LearnerErrorCode, string> = {
  not_finite: 'Look at the batch, lower the learning rate, or go back to a checkpoint.',
  damaged: 'Use the checkpoint before it.',
  not_found: 'Choose a checkpoint that is there.',
  unwritable: 'Make room or make the folder writable, then resume.',
  too_large: 'Use a smaller model, LoRA, or a machine with more memory.',
  lost: 'Resume from the last checkpoint.',
  refused: 'Change what it refuses, or choose another learner.',
  failed: 'See its log; the last checkpoint is unharmed.',
};

export class LearnerError extends UserError {
  constructor(
    readonly code: LearnerErrorCode,
    message: string,
  ) {
    super(message, NEXT[code]);
  }
}

/** What a server said, as an error. `code` is our engine's; other servers give none. */
export function learnerError(url: string, path: string, said: string, code: unknown): LearnerError {
  const known = typeof code === 'string' && code in NEXT ? (code as LearnerErrorCode) : 'refused';
  return new LearnerError(known, `The learner at ${url} cannot do ${path}: ${reasonOf(oneLine(said, 600))}.`);
}
