/** What the command palette offers. */
import assert from 'node:assert/strict';
import { driver, until } from '../support';

async function offered(text: string): Promise<string[]> {
  await driver({ op: 'press', key: 'F1' });
  await until(() => driver({ op: 'count', selector: '.quick-input-widget input' }), 'the palette');
  await driver({ op: 'type', text });
  const rows = () => driver<string[]>({ op: 'texts', selector: '.quick-input-list .monaco-list-row' });
  await until(async () => (await rows()).some((row) => row.includes(text)), `${text} in the palette`);
  const found = await rows();
  await driver({ op: 'screenshot', name: 'palette' });
  await driver({ op: 'press', key: 'Escape' });
  return found;
}

describe('palette', () => {
  it('offers the commands that work without a session, and no inner ones', async () => {
    const found = (await offered('Rehearsal:')).join('\n');
    for (const title of ['Start Rehearsal Session', 'Run Tasks', 'Open Examples', 'Show Log']) {
      assert.match(found, new RegExp(title), found);
    }
    assert.doesNotMatch(found, /Open Session at This Turn|Delete Session|Step Back/);
  });
});
