/** The session panel in a browser, fed by sessions of the real core: what a person sees, presses and hears. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import type { FromSession } from '../../webview/common/messages';
import { until } from '../harness/page';
import { launchBrowser } from '../harness/workbench';
import { ANSI, hostileStory } from '../webview/hostile';
import { openPanel, PANEL_THEMES, type PanelOptions, type PanelPage } from '../webview/open';
import { Story, scene } from '../webview/story';

describe('session panel', () => {
  let browser: Browser;
  let panel: PanelPage;
  let story: Story;

  before(async () => {
    browser = await launchBrowser();
    story = await scene();
  });
  after(() => browser?.close());
  afterEach(async () => {
    const { problems } = panel;
    await panel.close();
    assert.deepEqual(problems, [], 'nothing is refused by the content security policy and nothing throws');
  });

  const stopped = { reason: 'Stopped at turn 3, ACT, token 12' };
  async function show(of: Story = story, options: PanelOptions = {}, head = {}): Promise<PanelPage> {
    panel = await openPanel(browser, options);
    await panel.send({ type: 'session', view: of.view(), head: of.head({ ...stopped, ...head }) });
    return panel;
  }
  const last = async (): Promise<FromSession | undefined> => (await panel.posted()).at(-1);
  const text = (selector: string) => panel.page.locator(selector).first().innerText();
  const focused = (property = 'textContent') =>
    panel.page.evaluate(`document.activeElement.${property}`) as Promise<string>;
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => panel.page.keyboard.press(key)), Promise.resolve());

  describe('steps', () => {
    it('asks for the session, then posts each step by button and by key', async () => {
      await show();
      assert.deepEqual(await panel.posted(), [{ type: 'ready' }]);
      await panel.page.getByRole('button', { name: /^Output/ }).click();
      assert.deepEqual(await last(), { type: 'step', step: 'output' });
      for (const [key, step] of [
        ['F11', 'token'],
        ['F10', 'output'],
        ['Shift+F11', 'turn'],
        ['F5', 'continue'],
        ['Alt+F11', 'back'],
        ['Shift+Alt+F11', 'restart'],
        ['Shift+F5', 'stop'],
      ]) {
        await press(key!);
        assert.deepEqual(await last(), { type: 'step', step }, key);
      }
    });

    it('offers no step but Pause while it runs, and says why', async () => {
      await show(story, {}, { status: 'running', reason: 'Running' });
      const disabled = await panel.page.evaluate(
        `[...document.querySelectorAll('.steps [aria-disabled="true"]')].map((button) => button.dataset.step)`,
      );
      assert.deepEqual(disabled, ['token', 'output', 'turn', 'continue', 'back', 'restart']);
      await press('F11', 'F5');
      await panel.page.locator('[data-step="token"]').click();
      assert.deepEqual(await panel.posted(), [{ type: 'ready' }]);
      assert.match((await panel.page.locator('[data-step="token"]').getAttribute('title'))!, /Pause first/);
      await press('F6');
      assert.deepEqual(await last(), { type: 'step', step: 'pause' });
    });

    it('keeps the focus on the button and the card in its place through a step', async () => {
      const short = await new Story().tokens(13);
      await show(short);
      await panel.page.getByRole('button', { name: /^Token/ }).focus();
      const begun = { type: 'head', head: short.head({ status: 'running', reason: 'Running' }) };
      await short.tokens(1);
      const token = short.view().turns[0]!.act.tokens.at(-1)!;
      const written = { type: 'tokens', turn: 1, call: null, tokens: [token], head: short.head() };
      // In one go, as fast as a step can be: nothing here depends on the time that it takes.
      const places = await panel.page.evaluate(`[null, ...${JSON.stringify([begun, written])}].map((data) => {
        if (data) window.dispatchEvent(new MessageEvent('message', { data }));
        const { x, y, width, height } = document.querySelector('.card.stop').getBoundingClientRect();
        return [x, y, width, height].join(' ');
      })`);
      assert.equal(new Set(places as string[]).size, 1, `it moves: ${(places as string[]).join(', ')}`);
      assert.equal(await text('.t.here'), token.text);
      assert.equal(await focused('dataset.step'), 'token');
    });
  });

  describe('tokens', () => {
    it('shows the current one outlined, and what is stored ahead grey and dotted', async () => {
      await show();
      assert.equal(await text('.t.here'), '#');
      const style = (selector: string, property: string) =>
        panel.page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
      assert.equal(await style('.t.here', 'outlineStyle'), 'solid');
      assert.equal(await style('.t.here ~ .t', 'borderBottomStyle'), 'dotted');
      assert.equal(await style('.turn[aria-current] .act .t', 'borderBottomStyle'), 'solid');
      assert.match(await text('.turn[aria-current] .note:not([hidden])'), /dotted: 12 stored tokens/);
    });

    it('marks one place only, also where an output ends and the next begins', async () => {
      await show();
      const view = story.view();
      const turn = view.turns.find((one) => one.calls[0]?.rehearsal)!;
      const places = [turn.act.tokens.at(-1)!.node, turn.calls[0]!.rehearsal!.tokens.at(-1)!.node];
      for (const cursor of places) {
        await panel.send({ type: 'head', head: story.head({ cursor }) });
        const marked = await panel.page
          .locator('.t.here, .given.here')
          .evaluateAll((all) => all.map((one) => `${one.className} ${one.textContent}`));
        assert.deepEqual(marked.length, 1, marked.join('; '));
      }
    });

    it('moves by the keyboard, with one tab stop for each output and a name for each token', async () => {
      await show();
      const stops = await panel.page.evaluate(
        `[...document.querySelectorAll('.toks')].map((output) => output.querySelectorAll('[tabindex="0"]').length)`,
      );
      assert.deepEqual([...new Set(stops as number[])], [1]);
      await panel.page.locator('.t.here').focus();
      assert.equal(await focused('ariaLabel'), 'hash, 91 percent, rank 1, token 12 of 24, current');
      await press('ArrowRight');
      assert.match(await focused('ariaLabel'), /^W, .*token 13 of 24, stored ahead$/);
      await press('Home');
      assert.match(await focused('ariaLabel'), /^tool call tag, .*token 1 of 24$/);
      await press('End');
      assert.match(await focused('ariaLabel'), /token 24 of 24/);
      await press('Home', 'ArrowDown');
      assert.notEqual(await focused('ariaLabel'), '', 'down goes to another line');
      assert.doesNotMatch(await focused('ariaLabel'), /token 1 of 24/);
      await press('Control+Home');
      assert.match(await focused('ariaLabel'), /token 1 of /);
      assert.equal(
        await panel.page.locator('.turn').first().locator('.open').isVisible(),
        true,
        'the folded turn opens',
      );
      await press('Space');
      assert.equal(await panel.page.locator('.turn').first().locator('.open').isVisible(), false);
    });

    it('keeps 10,000 tokens as they are while more are appended', async () => {
      const one = await new Story().tokens(3);
      await show(one);
      const sample = one.view().turns[0]!.act.tokens[1]!;
      const token = (i: number) => ({ ...sample, node: 10 + i, text: i % 40 === 39 ? 'word\n' : ' word' });
      await panel.page.evaluate(`
        window.removed = 0;
        document.querySelector('.t').mine = true;
        new MutationObserver((all) => { for (const m of all) for (const n of m.removedNodes) if (n.classList?.contains('t') || n.classList?.contains('chunk')) window.removed++; })
          .observe(document.querySelector('.turns'), { childList: true, subtree: true });`);
      for (let at = 0; at < 10_000; at += 500) {
        const tokens = Array.from({ length: 500 }, (_, i) => token(at + i));
        await panel.send({
          type: 'tokens',
          turn: 1,
          call: null,
          tokens,
          head: one.head({ status: 'running', cursor: 10 + at + 499 }),
        });
      }
      await panel.send({ type: 'head', head: one.head({ cursor: 10_009 }) });
      const { count, removed, kept, largest, hidden } = (await panel.page.evaluate(`({
        count: document.querySelectorAll('.toks .t').length,
        removed: window.removed,
        kept: document.querySelector('.t').mine,
        largest: Math.max(...[...document.querySelectorAll('.chunk')].map((c) => c.querySelectorAll('.t').length)),
        hidden: getComputedStyle(document.querySelector('.chunk')).contentVisibility,
      })`)) as Record<string, unknown>;
      assert.equal(count, 10_003);
      assert.equal(removed, 0);
      assert.equal(kept, true);
      assert.ok((largest as number) <= 200);
      assert.equal(hidden, 'auto');
      assert.equal(await panel.page.locator('.t.here').isVisible(), true);
      const inView = 'document.querySelector(".card.stop").getBoundingClientRect().bottom <= innerHeight';
      await until(() => panel.page.evaluate(inView), 'the card to be in view');
    });

    it('shows heat by entropy on H, and remembers it', async () => {
      await show();
      const legend = () => panel.page.locator('.legend').innerText();
      assert.match(await legend(), /≥ \.95/);
      await press('h');
      assert.match(await legend(), /≤ \.1/);
      assert.equal(await panel.page.locator('.panel').getAttribute('data-heat'), 'entropy');
      await panel.page.getByRole('radio', { name: 'Probability' }).click();
      assert.equal(await panel.page.locator('.panel').getAttribute('data-heat'), 'probability');
      assert.deepEqual(await panel.page.evaluate('acquireVsCodeApi().getState()'), {
        heat: 'probability',
        session: '/saved/session.jsonl',
      });
    });
  });

  describe('alternatives', () => {
    it('forks with the one that is clicked, at the stop', async () => {
      await show();
      assert.match(await text('.card.stop .facts'), /12 of 24/);
      await panel.page.locator('.card.stop .alt', { hasText: '_id' }).click();
      const token = story.view().turns[2]!.act.tokens[11]!;
      const { id } = token.alternatives.find((other) => other.text === '_id')!;
      assert.deepEqual(await last(), { type: 'choose', node: token.node, id });
    });

    it('forks by the keyboard, and gives the focus back on Escape', async () => {
      await show();
      await panel.page.locator('.t.here').focus();
      await press('Enter', 'ArrowDown');
      assert.equal(await focused('ariaLabel'), 'W, 6 percent, has a branch');
      await press('Escape');
      assert.match(await focused('ariaLabel'), /^hash/);
      await press('Enter', 'ArrowDown', 'Enter');
      const token = story.view().turns[2]!.act.tokens[11]!;
      assert.deepEqual(await last(), { type: 'choose', node: token.node, id: token.alternatives[1]!.id });
    });

    it('floats at the token under the pointer, and goes there', async () => {
      await show();
      const token = story.view().turns[1]!.act.tokens[5]!;
      await panel.page.locator('.turn').nth(1).locator('.act .t').nth(5).hover();
      const card = panel.page.locator('.card.float');
      await card.waitFor();
      assert.match(await card.innerText(), /Token\s+6 of 23/);
      await card.getByRole('button', { name: 'Go to this token' }).click();
      assert.deepEqual(await last(), { type: 'goto', node: token.node });
      assert.equal(await card.isVisible(), false);
    });

    it('shows the other branch after a fork, the focus at the fork', async () => {
      const fork = await scene();
      await show(fork);
      await panel.page.locator('.t.here').focus();
      const hash = fork.find(3, '#');
      fork.choose(hash, 'W');
      await panel.send({ type: 'session', view: fork.view(), head: fork.head(stopped) });
      assert.equal(await text('.t.here'), 'W');
      assert.match(await focused('ariaLabel'), /^W, .*current$/);
      assert.equal(await panel.page.locator('.branch.shown .name').innerText(), 'W');
    });
  });

  describe('observations and the end', () => {
    it('says where each came from, and rehearses again', async () => {
      await show();
      assert.deepEqual(await panel.page.locator('.counts li').allInnerTexts(), [
        'gate\n1',
        'recorded\n1',
        'rehearsed\n3',
      ]);
      const turn = panel.page.locator('.turn').nth(1);
      assert.match(await turn.locator('.rehearse .foot').innerText(), /rehearsed\s+error: Order not found/);
      await turn.getByRole('button', { name: 'Rehearse again, turn 2' }).click();
      assert.deepEqual(await last(), {
        type: 'again',
        node: story.view().turns[1]!.calls[0]!.rehearsal!.node,
      });
    });

    it('lists the checks with verdict, reason, weight and the turn', async () => {
      const ended = await new Story().end();
      await show(ended, {}, { reason: 'Ended: answered' });
      assert.equal(await text('.checks .figure'), ended.view().end!.reward!.toFixed(2));
      const rows = await panel.page.locator('.check').allInnerTexts();
      assert.match(rows[0]!, /holds\s+looks the order up, then cancels it: .*\s+weight 2/);
      assert.match(rows[1]!, /required, weight 1/);
      assert.match(rows[3]!, /fails\s+at most 4 calls: 5 calls were made/);
      await panel.page.locator('.check').nth(3).getByRole('link').click();
      assert.match(await focused('ariaLabel'), /^Turn 5/);
    });

    it('goes to a branch by click and by keyboard', async () => {
      await show();
      const { branches } = story.view();
      await panel.page
        .getByRole('treeitem', { name: /W, instead of hash, reward .*forks at turn 3, token 12/ })
        .click();
      assert.deepEqual(await last(), { type: 'goto', node: branches[1]!.tip });
      await press('b', 'End', 'Enter');
      assert.deepEqual(await last(), { type: 'goto', node: branches[2]!.tip });
      await press('Escape');
      assert.match(await focused('ariaLabel'), /^hash/);
    });
  });

  describe('what a model writes', () => {
    it('is text, whatever it looks like', async () => {
      await show(await hostileStory(), {}, { reason: 'Ended: answered' });
      assert.equal(await panel.page.evaluate('window.broken'), undefined);
      assert.equal(await panel.page.locator('.panel img, .panel script, .panel .t b').count(), 0);
      const all = await panel.page.locator('.turns').innerText();
      assert.ok(all.includes('onerror'));
      assert.ok(all.includes('\\x1b'), 'the escape character is shown as such');
      assert.ok(!all.includes(ANSI[0]!) && !all.includes('\u202e'), 'and never stands in the page');
      assert.match(all, /REHEARSAL_UNPARSEABLE/);
    });
  });

  describe('errors', () => {
    it('says what happened, with the one button', async () => {
      const error = {
        message: 'The server does not answer. Start it again.',
        action: { title: 'Start Server', id: 'startServer' },
      };
      await show(story, {}, { status: 'failed', error });
      assert.equal(await panel.page.getByRole('alert').innerText(), `${error.message}\nStart Server`);
      await panel.page.getByRole('button', { name: 'Start Server' }).click();
      assert.deepEqual(await last(), { type: 'action', id: 'startServer' });
    });

    it('goes on showing the session when a message does not fit', async () => {
      await show();
      await panel.send({ type: 'tokens', turn: 'three' });
      assert.match(await panel.page.getByRole('alert').innerText(), /was not understood/);
      assert.equal(await text('.t.here'), '#');
    });

    it('has one sentence and one button before the first token', async () => {
      await show(new Story(), {}, { tokens: 0 });
      assert.match(await text('.empty'), /Nothing has been sampled yet/);
      await panel.page.getByRole('button', { name: 'Sample the First Token' }).click();
      assert.deepEqual(await last(), { type: 'step', step: 'token' });
    });
  });

  describe('everybody', () => {
    it('hears stops and ends of outputs, not the stream', async () => {
      const heard = await new Story().tokens(1);
      await show(heard, {}, { reason: 'Stopped at turn 1, ACT, token 1' });
      const said = () => panel.page.locator('[role="status"]').textContent();
      assert.equal(await said(), 'Stopped at turn 1, ACT, token 1: tool call tag.');
      const running = { status: 'running' as const, reason: 'Running' };
      await heard.tokens(2);
      const tokens = heard.view().turns[0]!.act.tokens.slice(1);
      await panel.send({ type: 'tokens', turn: 1, call: null, tokens, head: heard.head(running) });
      assert.equal(
        await said(),
        'Stopped at turn 1, ACT, token 1: tool call tag.',
        'silent while it streams',
      );
      await heard.end();
      await panel.send({
        type: 'session',
        view: heard.view(),
        head: heard.head({ reason: 'Ended: answered, reward 0.80' }),
      });
      assert.match(
        (await said())!,
        /REHEARSE: error, Order not found, rehearsed\..*Ended: answered, reward 0\.80/,
      );
    });

    it('finds a name on every control, and every option in a list with a label', async () => {
      await show();
      const nameless = await panel.page.evaluate(`
        [...document.querySelectorAll('button, vscode-button, vscode-link, vscode-radio, [tabindex="0"], [role]')]
          .filter((e) => !['presentation', 'none', 'status', 'alert', 'option'].includes(e.getAttribute('role')) || e.tabIndex === 0)
          .filter((e) => e.offsetParent && !(e.getAttribute('aria-label') || e.textContent.trim()))
          .map((e) => e.outerHTML.slice(0, 120))`);
      assert.deepEqual(nameless, []);
      const homeless = await panel.page.evaluate(`
        [...document.querySelectorAll('[role="option"]')].filter((e) => !e.closest('[role="listbox"][aria-label]')).length
        + [...document.querySelectorAll('[role="treeitem"]')].filter((e) => !e.closest('[role="tree"][aria-label]')).length`);
      assert.equal(homeless, 0);
      const ids = (await panel.page.evaluate(
        '[...document.querySelectorAll("[id]")].map((e) => e.id)',
      )) as string[];
      assert.equal(new Set(ids).size, ids.length);
    });

    it('can read every text, in every theme', async () => {
      await show();
      for (const theme of PANEL_THEMES) {
        await panel.setTheme(theme);
        assert.deepEqual(await panel.page.evaluate(`(${CONTRAST})()`), [], theme);
      }
    });

    it('sees all of it at any width', async () => {
      await show();
      for (const width of [320, 420, 560, 690, 760, 1036, 1600]) {
        await panel.page.setViewportSize({ width, height: 842 });
        await panel.send({ type: 'head', head: story.head(stopped) });
        const wide = await panel.page.evaluate(`
          [...document.querySelectorAll('.panel, .columns, .turns, .steps, .strip, .card.stop, .side, .checks, .out')]
            .filter((e) => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map((e) => e.className + ' ' + e.scrollWidth + '>' + e.clientWidth)`);
        assert.deepEqual(wide, [], String(width));
      }
    });

    it('sees no motion where it is not wanted', async () => {
      await show(story, { context: { reducedMotion: 'reduce' } }, { status: 'running', reason: 'Running' });
      assert.deepEqual(
        await panel.page.evaluate('document.getAnimations().filter((a) => a.animationName).length'),
        0,
      );
    });
  });
});

/** Visible texts whose contrast with what is behind them is below WCAG AA (4.5), with the figure. */
const CONTRAST = `() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const behind = (e) => {
    const own = rgba(getComputedStyle(e).backgroundColor);
    return own[3] === 1 || !e.parentElement ? own : over(own, behind(e.parentElement));
  };
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const weak = new Set();
  for (const e of document.querySelectorAll('.panel *')) {
    if (!e.offsetParent || e.closest('[aria-disabled="true"]') || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const back = behind(e);
    const front = over(rgba(getComputedStyle(e).color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) weak.add((e.className || e.tagName) + ' ' + ratio.toFixed(2));
  }
  return [...weak];
}`;
