/** Turns whatever a step threw into what a person is told. */
import { TemplateError } from '../../core/conversation/render';
import { EmptyStreamError } from '../../core/rehearsal/drivers';
import { reasonOf, UserError } from '../../core/user-error';

const SHOW_LOG = { title: 'Show Log', id: 'showLog' };

export function failureOf(error: unknown): UserError {
  if (error instanceof UserError) return error;
  if (error instanceof EmptyStreamError) {
    return new UserError(error.message, 'Step again to ask it once more; nothing is lost.', SHOW_LOG, {
      cause: error,
    });
  }
  if (error instanceof TemplateError) {
    return new UserError(error.message, 'Use a model with another chat template.', {
      title: 'Select Model',
      id: 'selectModel',
    });
  }
  return new UserError(
    `The step failed inside Rehearsal Studio: ${reasonOf(error)}.`,
    'Step again to retry; the log has the details.',
    SHOW_LOG,
    { cause: error },
  );
}
