/** Entry of the session panel's bundle. */
import { connect } from '../common/host';
import type { FromSession, ToSession } from '../common/messages';
import { registerToolkit } from '../common/toolkit';
import { isToSession } from '../common/validators.generated';
import { isHeat } from './heat';
import { Panel } from './panel';
import './styles/session.css';

registerToolkit();

const host = connect<ToSession, FromSession>(
  isToSession,
  (message) => panel.receive(message),
  (reason) =>
    panel.fail(
      `A message of the extension was not understood (${reason}). Close this panel and open the session again; nothing is lost.`,
    ),
);
const saved = host.getState() as { heat?: unknown } | undefined;
const root = document.getElementById('app')!;
const panel = new Panel({
  post: host.post,
  heat: isHeat(saved?.heat) ? saved.heat : 'probability',
  // The session's file is kept with it: VS Code gives it back when the window is opened again.
  saveState: (heat) => host.setState({ heat, session: document.body.dataset.session }),
});
root.setAttribute('aria-label', 'Rehearsal session');
root.append(panel.element);
host.post({ type: 'ready' });
