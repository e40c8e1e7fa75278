/** What the command palette offers. */
import assert from 'node:assert/strict';
import { driver, until } from '../support';

/** Rows that are not visible belong to lists that were closed. */
const rows = async () =>
  (await driver<string[]>({ op: 'texts', selector: '.quick-input-list .monaco-list-row:visible' })).join(
    '\n',
  );

/** Looks for a command; the list shows but a part of all commands, so each is looked for by itself. */
async function look(title: string): Promise<void> {
  await driver({ op: 'press', key: 'F1' });
  await until(() => driver({ op: 'count', selector: '.quick-input-widget:visible input' }), 'the palette');
  await driver({ op: 'type', text: `Rehearsal: ${title}` });
}

describe('palette', () => {
  afterEach(() => driver({ op: 'press', key: 'Escape' }));

  for (const title of [
    'Start Rehearsal Session',
    'Run Tasks',
    'Open Examples',
    'Show Log',
    'Launch Training',
  ]) {
    it(`offers ${title}`, async () => {
      await look(title);
      await until(async () => (await rows()).includes(`Rehearsal: ${title}`), `${title} in the palette`);
      await driver({ op: 'screenshot', name: 'palette' });
    });
  }

  for (const title of ['Open Session at This Turn', 'Delete Session', 'Step Back']) {
    it(`does not offer ${title}, which is for a menu or a session`, async () => {
      await look(title);
      let before: string | undefined;
      // The list is filtered some time after the last key.
      await until(async () => {
        await new Promise((resolve) => setTimeout(resolve, 500));
        const now = await rows();
        const same = now === before;
        before = now;
        return same;
      }, 'what is listed');
      assert.ok(!before!.includes(`Rehearsal: ${title}`), before);
    });
  }
});
