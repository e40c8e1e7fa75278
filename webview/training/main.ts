/** Entry of the training pages' bundle: the body says which of the two this is. */
import { connect } from '../common/host';
import { registerToolkit } from '../common/toolkit';
import type { FromTraining, ToTraining } from '../common/training';
import { isToTraining } from '../common/training-validators.generated';
import { FilePage } from './form/page';
import { placeOf, RunPage } from './run/page';
import './styles/training.css';

registerToolkit();

const host = connect<ToTraining, FromTraining>(
  isToTraining,
  (message) => page.receive(message),
  (reason) =>
    page.fail({
      message: `A message of the extension was not understood (${reason}). Close this page and open it again; nothing is lost.`,
    }),
);
const { run } = document.body.dataset;
// VS Code gives it back when the window is opened again, and when a tab that was hidden is shown.
const page =
  run === undefined
    ? new FilePage(host.post)
    : new RunPage(host.post, placeOf(host.getState()), (place) => host.setState({ run, ...place }));
const root = document.getElementById('app')!;
root.setAttribute('aria-label', run === undefined ? 'Training file' : 'Training run');
root.append(page.element);
host.post({ type: 'ready' });
