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
const panel = new Panel({
  post: host.post,
  heat: isHeat(saved?.heat) ? saved.heat : 'probability',
  saveHeat: (heat) => host.setState({ heat }),
});
document.body.append(panel.element);
host.post({ type: 'ready' });
