/** Entry of the compare page's bundle. */
import type { FromCompare, ToCompare } from '../common/compare';
import { isToCompare } from '../common/compare-validators.generated';
import { connect } from '../common/host';
import { registerToolkit } from '../common/toolkit';
import { ComparePage, savedState } from './page';
import './styles/compare.css';

registerToolkit();

const host = connect<ToCompare, FromCompare>(
  isToCompare,
  (message) => page.receive(message),
  (reason) =>
    page.fail(
      `A message of the extension was not understood (${reason}). Close this page and open the comparison again; nothing is lost.`,
    ),
);
const { file } = document.body.dataset;
const saved = host.getState() as { file?: unknown } | undefined;
const page = new ComparePage({
  post: host.post,
  // Of another comparison nothing is taken over: its calls are others.
  saved: savedState(saved?.file === file ? saved : undefined),
  // The comparison's file is kept with it: VS Code gives it back when the window is opened again.
  save: (state) => host.setState({ ...state, file }),
});
const root = document.getElementById('app')!;
root.setAttribute('aria-label', 'Rehearsed and real');
root.append(page.element);
host.setState({ ...(saved?.file === file ? saved : {}), file });
host.post({ type: 'ready' });
