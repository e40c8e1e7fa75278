/** What does not change while a run lasts, for the head of its page. */
import type { RunFacts } from '../../../webview/common/training';
import type { RunConfig } from '../../core/training/types';

export function factsOf({ settings, parts, allowed }: RunConfig): RunFacts {
  const { learner, groupSize, tasksPerStep, weights } = settings;
  const count = { train: parts.train.length, validation: parts.validation.length, test: parts.test.length };
  return {
    groupSize,
    tasksPerStep,
    weights,
    place: learner.kind === 'engine' && !learner.url ? 'the local server' : (learner.url ?? learner.kind),
    tasks: count,
    real: allowed.length > 0,
  };
}
