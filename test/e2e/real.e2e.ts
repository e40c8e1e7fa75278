/** Real answers in the session panel: what a person sees beside a rehearsal, and what the buttons ask for. */
import assert from 'node:assert/strict';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { callAnsweredAt } from '../../src/core/rehearsal/calls';
import { twoBranches } from '../../src/core/rehearsal/two-branches';
import type { OtherAnswer } from '../../src/features/session/beside';
import type { FromSession } from '../../webview/common/messages';
import { launchBrowser } from '../harness/workbench';
import { openPanel, PANEL_THEMES, type PanelOptions, type PanelPage } from '../webview/open';
import { beside, compared, observationOf } from '../webview/real';
import { Story } from '../webview/story';

const SHOTS = path.join(import.meta.dirname, 'shots');
const REHEARSED = { order_id: '#W4284542', status: 'pending', total: '$84.90' };
const REAL = { order_id: '#W4284542', status: 'delivered', total: '$84.90', warehouse: 'B' };
const pair = compared({ outcome: 'result', value: REHEARSED }, { outcome: 'result', value: REAL });
/** The turn that looks the order up. */
const TURN = 3;

describe('real answers in the session panel', () => {
  let browser: Browser;
  let panel: PanelPage;
  let story: Story;

  before(async () => {
    browser = await launchBrowser();
    story = await new Story().end();
    story.goto(observationOf(story, TURN).node);
  });
  after(() => browser?.close());
  afterEach(async () => {
    const { problems } = panel;
    await panel.close();
    assert.deepEqual(problems, [], 'nothing is refused by the content security policy and nothing throws');
  });

  async function show(options: PanelOptions = {}, unavailable: string | null = null): Promise<PanelPage> {
    panel = await openPanel(browser, options);
    await panel.send({
      type: 'session',
      view: story.view(),
      head: story.head({ reason: 'Stopped at turn 3' }),
    });
    await panel.send({ type: 'tools', observations: 'rehearse', unavailable });
    return panel;
  }
  const other = (change: Partial<OtherAnswer>) => panel.send(beside(story, TURN, change));
  const last = async (): Promise<FromSession | undefined> => (await panel.posted()).at(-1);
  const press = (name: string) => panel.page.getByRole('button', { name: `${name}, turn ${TURN}` }).click();
  const block = () => panel.page.locator('.out.other:not([hidden])');

  it('offers to execute and to compare each call that was made, and asks for just that', async () => {
    await show();
    for (const [name, type] of [
      ['Execute for Real', 'execute'],
      ['Compare', 'compare'],
    ]) {
      await press(name!);
      assert.deepEqual(await last(), { type, node: observationOf(story, TURN).node });
    }
    // Turn 4 was refused by a gate: nothing was called.
    await panel.page.locator('.turn').nth(3).locator('.fold').first().click();
    assert.equal(await panel.page.getByRole('button', { name: 'Execute for Real, turn 4' }).count(), 0);
  });

  it('says why nothing can be executed', async () => {
    await show({}, 'The environment names no executor.');
    const execute = panel.page.locator(`vscode-button[aria-label="Execute for Real, turn ${TURN}"]`);
    assert.equal(await execute.getAttribute('aria-disabled'), 'true');
    assert.equal(await execute.getAttribute('title'), 'The environment names no executor.');
    assert.match(
      await panel.page.locator('.side').innerText(),
      /Only rehearsals\. The environment names no executor/,
    );
  });

  it('shows the real answer beside the rehearsed one, its time, and what differs', async () => {
    await show();
    await other({ status: 'running' });
    assert.match(await block().innerText(), /executing…/);
    await press('Cancel');
    assert.equal((await last())!.type, 'cancel');
    await other(pair);
    const text = await block().innerText();
    for (const part of ['real', '3.2 ms', 'delivered', 'differs', '$.status', 'missing', 'warehouse'])
      assert.ok(text.includes(part), `${part} in ${text}`);
    await press('Take This Answer');
    assert.equal((await last())!.type, 'take');
    await press('Open Diff');
    assert.equal((await last())!.type, 'openDiff');
    assert.match(
      await panel.page.locator('[role="status"]').first().innerText(),
      /Real tool: answered, differs/,
    );
  });

  it('colours the tokens of the real answer by surprise, with figures', async () => {
    await show();
    await other(pair);
    assert.equal(await panel.page.locator('div.surprise').isVisible(), false);
    await panel.page.locator('vscode-radio', { hasText: 'Surprise' }).click();
    assert.ok(await panel.page.locator('div.surprise').isVisible());
    await other({ ...pair, surprise: null });
    assert.deepEqual(await last(), { type: 'score', node: observationOf(story, TURN).node });
    await other(pair);
    assert.match(
      await panel.page.locator('div.surprise').innerText(),
      /\d\.\d\d bits per token, \d\.\d\d per byte/,
    );
    assert.ok((await panel.page.locator('div.surprise .t.s4 sup').count()) > 0);
    await other({ ...pair, surprise: null, unscored: 'This server gives no probabilities of such text.' });
    assert.match(await block().innerText(), /No surprise: This server/);
    assert.match(await block().innerText(), /delivered/, 'the rest is shown');
  });

  it('shows why there is no answer, at the call', async () => {
    await show();
    await other({ status: 'failed', failure: 'It has not answered within 2 s and was stopped.' });
    assert.match(await block().innerText(), /not answered within 2 s/);
  });

  it('shows markup and control characters of a tool as text', async () => {
    await show();
    const value = '<img src=x onerror="window.bad = 1">\u001b[31mred\u001b[0m\u202e';
    await other({ answer: { outcome: 'result', value }, notes: ['printed: <b>\u001b[2J'] });
    const text = await block().innerText();
    assert.ok(text.includes('<img src=x onerror="window.bad = 1">'), text);
    assert.doesNotMatch(text, /[\u001b\u202e]/u);
    assert.equal(await panel.page.evaluate('window.bad'), undefined);
    assert.equal(await block().locator('img, b').count(), 0);
  });

  it('cuts an answer of 10 MB and opens it whole on demand', async () => {
    await show();
    const items = Array.from({ length: 80_000 }, (_, id) => ({ id, text: 'x'.repeat(100) }));
    await other({ answer: { outcome: 'result', value: { items } }, raw: 'x'.repeat(10 * 2 ** 20) });
    assert.match(await block().innerText(), /the first 20,000 of 10,485,760 characters/);
    await press('Open Whole Answer');
    assert.equal((await last())!.type, 'openAnswer');
  });

  it('switches who answers next, and runs the task for real beside', async () => {
    await show();
    assert.deepEqual(await panel.posted(), [{ type: 'ready' }], 'nothing is switched by looking at it');
    await panel.send({ type: 'tools', observations: 'real', unavailable: null });
    assert.equal(
      await panel.page.locator('vscode-radio[aria-checked="true"]').first().innerText(),
      'Real tools',
    );
    await panel.page.locator('vscode-radio', { hasText: 'Rehearsal' }).click();
    assert.deepEqual(await last(), { type: 'observations', from: 'rehearse' });
    await panel.page.locator('vscode-radio', { hasText: 'Real tools' }).click();
    assert.deepEqual(await last(), { type: 'observations', from: 'real' });
    await panel.page.getByRole('button', { name: 'Run for Real Beside' }).click();
    assert.deepEqual(await last(), { type: 'runForReal' });
  });

  it('shows two branches side by side, with what differs in words', async () => {
    const two = await new Story().end();
    const rehearsed = two.session.tip.id;
    const { node: at } = observationOf(two, TURN);
    const { at: open } = callAnsweredAt(two.session, at)!;
    two.session.add({ kind: 'executed', outcome: 'result', value: REAL, durationMs: 3 }, open.id);
    await two.end();
    story = two;
    await show({ width: 1200 });
    await panel.send({ type: 'branches', view: twoBranches(two.session, rehearsed, two.session.tip.id) });
    const text = await panel.page.locator('.two').innerText();
    assert.match(text, /other answer/);
    assert.match(text, /\$\.status differs/);
    assert.match(text, /goes another way/);
    await panel.page.screenshot({ path: path.join(SHOTS, 'two-branches-dark.png') });
    await panel.page.keyboard.press('Escape');
    assert.equal(await panel.page.locator('.two').isVisible(), false);
    assert.ok(await panel.page.locator('.turns').isVisible());
  });

  it('looks as it should in every theme', async () => {
    story = await new Story().end();
    story.goto(observationOf(story, TURN).node);
    for (const theme of PANEL_THEMES) {
      await show({ theme, width: 1100, height: 900 });
      await other(pair);
      await panel.page.locator('vscode-radio', { hasText: 'Surprise' }).click();
      await block().scrollIntoViewIfNeeded();
      assert.ok(await panel.page.locator('div.surprise').isVisible());
      await panel.page.screenshot({ path: path.join(SHOTS, `real-answer-${theme}.png`) });
      if (theme !== PANEL_THEMES.at(-1)) await panel.close();
    }
  });
});
