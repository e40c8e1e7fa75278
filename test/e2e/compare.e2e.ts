/** The compare page in a browser, fed by comparisons of the real core: what a person sees, presses and hears. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import type { ComparisonRun } from '../../src/core/fidelity/comparison';
import { comparisonView } from '../../src/core/fidelity/view';
import type { FromCompare } from '../../webview/common/compare';
import { launchBrowser } from '../harness/workbench';
import { FakeHost, HEAD, runOf } from '../webview/comparison';
import { openPanel, type PanelOptions, type PanelPage } from '../webview/open';

describe('compare page', function () {
  this.timeout(120_000);
  let browser: Browser;
  let panel: PanelPage;
  let host: FakeHost;

  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser?.close());
  afterEach(async () => {
    const { problems } = panel;
    await panel.close();
    assert.deepEqual(problems, [], 'nothing is refused by the content security policy and nothing throws');
  });

  async function show(
    runs: ComparisonRun[] = [runOf('nano', 40, 0.5)],
    head = HEAD,
    options: PanelOptions = {},
  ): Promise<void> {
    panel = await openPanel(browser, {
      bundle: 'compare',
      ready: '.page',
      data: { file: '/c.jsonl' },
      width: 1280,
      height: 900,
      ...options,
    });
    host = new FakeHost(panel, runs, head);
    await host.start();
  }
  const last = async (): Promise<FromCompare | undefined> => (await host.posted()).at(-1);
  const text = (selector: string) => panel.page.locator(selector).first().innerText();
  const count = (selector: string) => panel.page.locator(selector).count();
  const focused = (property = 'textContent') =>
    panel.page.evaluate(`document.activeElement.${property}`) as Promise<string>;

  it('shows every figure of the summary, in words beside each bar', async () => {
    const runs = [runOf('nano', 40, 0.5)];
    await show(runs);
    const side = comparisonView({ environment: 'e', what: '', created: '' }, runs).sides[0]!;
    assert.equal(await text('.figure .big'), side.fidelity.share!.toFixed(2));
    assert.match(
      await text('.figure'),
      new RegExp(
        `${side.fidelity.low.toFixed(2)} to ${side.fidelity.high.toFixed(2)}; ${side.fidelity.good} of 40 calls`,
      ),
    );
    for (const { tool, fields } of side.tools) {
      for (const { field, counts } of fields) {
        for (const [kind, n] of Object.entries(counts)) {
          const key = JSON.stringify(JSON.stringify({ tool, field, kind }));
          const cell = panel.page.locator(`button[data-key=${key}]`);
          assert.equal(await cell.count(), n ? 1 : 0, key);
          if (n) assert.equal(await cell.innerText(), String(n));
        }
      }
    }
    const confusion = await panel.page.locator('.confusion tbody tr').count();
    assert.equal(confusion, side.anticipation.confusion.length);
  });

  it('lists the calls behind a figure, and all again', async () => {
    await show();
    const cell = panel.page.locator('.c.differs button.cell').first();
    const n = Number(await cell.innerText());
    await cell.click();
    await host.answer();
    assert.equal(await cell.getAttribute('aria-pressed'), 'true');
    assert.equal(await panel.page.locator('.row').first().getAttribute('aria-setsize'), String(n));
    assert.match(await text('.chosen'), /differs/);
    await panel.page.locator('.chosen vscode-button').click();
    await host.answer();
    assert.equal(await panel.page.locator('.row').first().getAttribute('aria-setsize'), '40');
  });

  it('goes through the calls by keyboard, opens the diff, and takes verdicts by number', async () => {
    await show();
    await panel.page.locator('.list').focus();
    await panel.page.keyboard.press('Home');
    await host.answer();
    await panel.page.keyboard.press('ArrowDown');
    await host.answer();
    assert.equal(await panel.page.locator('.list').getAttribute('aria-activedescendant'), 'call-1');
    assert.match(
      (await panel.page.locator('#call-1').getAttribute('aria-label'))!,
      /^get_order_details .+: (match|tolerable|differs)/,
    );
    await panel.page.keyboard.press('Enter');
    assert.deepEqual(await last(), { type: 'diff', id: 1, side: 0 });
    await panel.page.keyboard.press('4');
    assert.deepEqual(await last(), { type: 'verdict', id: 1, side: 0, verdict: 'real tool wrong', note: '' });
    await panel.page.locator('.search.note').fill('rounds up');
    await panel.page.locator('.list').focus();
    await panel.page.keyboard.press('2');
    assert.deepEqual(await last(), {
      type: 'verdict',
      id: 1,
      side: 0,
      verdict: 'tolerable',
      note: 'rounds up',
    });
    const verdicts = async () => (await host.posted()).filter(({ type }) => type === 'verdict').length;
    const before = await verdicts();
    await panel.page.locator('.search').first().fill('#W42846');
    await panel.page.keyboard.type('3');
    assert.equal(await verdicts(), before, 'a digit in a text is a digit');
  });

  it('colours the real tokens by surprise, in figures too, one tab stop for all', async () => {
    await show();
    const spans = panel.page.locator('.toks .t');
    const all = (await spans.evaluateAll((list) =>
      list.map((one) => ({
        name: one.className,
        sup: one.querySelector('sup')?.textContent,
        tab: Number(one.getAttribute('tabindex')),
      })),
    )) as { name: string; sup?: string; tab: number }[];
    assert.equal(all.filter(({ tab }) => tab === 0).length, 1);
    const hot = all.filter(({ sup }) => sup);
    assert.ok(hot.length > 0 && hot.every(({ name, sup }) => Number(sup) >= 1 && /s[234]/.test(name)));
    await spans.first().focus();
    await panel.page.keyboard.press('ArrowRight');
    assert.match(await focused('ariaLabel'), /bits, token 2 of/);
  });

  it('folds what matches and marks the first difference', async () => {
    await show();
    await panel.page.locator('.segments vscode-radio', { hasText: 'Differ' }).click();
    await host.answer();
    assert.equal(await count('.compared tr.first'), 1);
    assert.match(await text('.compared tr.first .what'), /first difference/);
    const fold = panel.page.locator('.fold').first();
    const before = await count('.compared tr:visible');
    await fold.click();
    assert.ok((await count('.compared tr:visible')) > before);
    assert.equal(await fold.getAttribute('aria-expanded'), 'true');
  });

  it('shows several models in columns, with what they differ by', async () => {
    await show([runOf('nano', 40, 0.4), runOf('step-30', 40, 0.9)]);
    assert.deepEqual(await panel.page.locator('.models thead th').allInnerTexts(), ['', 'nano', 'step-30']);
    assert.match(
      (await panel.page.locator('.models tbody').last().innerText()).replace(/\s+/g, ' '),
      /fidelity .*\+0\.\d\d \(.+ to \+0\.\d\d\)/,
    );
    assert.equal(await count('#call-0 .mark'), 2);
    const before = await text('.figure .big');
    await panel.page.locator('.modelchoice vscode-radio', { hasText: 'step-30' }).click();
    await host.answer();
    assert.notEqual(await text('.figure .big'), before);
  });

  it('says what it does, that figures are stale, what is wrong, and what cannot be done', async () => {
    await show(undefined, {
      ...HEAD,
      status: 'running',
      progress: '12 of 40 calls, nano',
      share: 0.3,
      noModel: 'Wait.',
    });
    assert.match(await text('.progress'), /12 of 40 calls, nano/);
    await panel.page.locator('.progress vscode-button').click();
    assert.deepEqual(await last(), { type: 'cancel' });
    await panel.page.locator('header vscode-button', { hasText: 'Compare Again' }).click();
    assert.deepEqual(await last(), { type: 'cancel' }, 'not while it runs');
    const error = { message: 'The disk is full\u202e.', action: { title: 'Show Log', id: 'showLog' } };
    await panel.send({
      type: 'head',
      head: { ...HEAD, stale: 'get_order has changed.', error, readOnly: 'The file is gone.' },
    });
    assert.match(await text('.stale'), /get_order has changed/);
    assert.match(await text('[role=alert]'), /The disk is full\\u202e\./);
    await panel.page.locator('.errorbar vscode-button').click();
    assert.deepEqual(await last(), { type: 'action', id: 'showLog' });
    await panel.page.locator('.list').focus();
    await panel.page.keyboard.press('1');
    assert.deepEqual(
      await last(),
      { type: 'action', id: 'showLog' },
      'no verdict where it cannot be written',
    );
    assert.match(await text('[role=status].sr'), /The comparison is done\. Fidelity/);
  });

  it('shows whatever a tool or a model wrote as text', async () => {
    const hostile = '<img src=x onerror="document.title=1">\u001b[31m\u202e';
    const run = runOf('<b>nano</b>', 3, 0.5);
    const pairs = run.pairs.map((pair) => ({
      ...pair,
      tool: hostile,
      arguments: { [hostile]: hostile },
      raw: hostile,
      notes: [hostile],
    }));
    await show([{ ...run, pairs }]);
    assert.equal(await count('img'), 0);
    assert.equal(await count('b:text-is("nano")'), 0);
    assert.match(await text('.pair .title'), /<img src=x .*\\x1b\[31m\\u202e/);
    assert.match(await text('.names'), /<b>nano<\/b>/);
  });

  it('holds 10,000 calls with few of them in the page', async () => {
    await show([runOf('nano', 10_000, 0.5)]);
    assert.ok((await count('.row')) < 60);
    await panel.page.locator('.list').focus();
    await panel.page.keyboard.press('End');
    await host.answer();
    assert.equal(
      await panel.page.locator('.row[aria-selected="true"]').getAttribute('aria-posinset'),
      '10000',
    );
    assert.ok((await count('.row')) < 60);
    assert.match(await text('.about'), /Call 10,000 of 10,000/);
  });

  it('can be used in half a window, without scrolling to the side', async () => {
    for (const width of [420, 700]) {
      await show(undefined, HEAD, { width, height: 800 });
      const over = await panel.page.evaluate(
        'document.querySelector(".page").scrollWidth - document.querySelector(".page").clientWidth',
      );
      assert.ok((over as number) <= 0, `${String(over)} pixels too wide at ${width}`);
      if (width === 420) await panel.close();
    }
  });
});
