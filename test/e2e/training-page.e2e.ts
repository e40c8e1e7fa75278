/** The training pages in a browser, fed by runs made from the types: what a person sees, presses and hears. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { publishedTrainingSchema } from '../../src/core/training/schema';
import { fieldGroups } from '../../src/features/training/form';
import type { FileView, FromTraining } from '../../webview/common/training';
import { launchBrowser } from '../harness/workbench';
import { openPanel, PANEL_THEMES, type PanelOptions, type PanelPage } from '../webview/open';
import { choices, detail, groups, metrics, runMessage, status } from '../webview/run';

describe('training pages', () => {
  let browser: Browser;
  let panel: PanelPage;

  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser?.close());
  afterEach(async () => {
    if (!panel) return;
    const { problems } = panel;
    await panel.close();
    assert.deepEqual(problems, [], 'nothing is refused by the content security policy and nothing throws');
  });

  const posted = async () => (await panel.posted()) as unknown as FromTraining[];
  const last = async () => (await posted()).at(-1);
  const text = (selector: string) => panel.page.locator(selector).first().innerText();
  const style = (selector: string, property: string) =>
    panel.page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => panel.page.keyboard.press(key)), Promise.resolve());

  describe('of a run', () => {
    async function show(options: PanelOptions = {}, change = {}): Promise<void> {
      panel = await openPanel(browser, {
        width: 1280,
        height: 1200,
        ...options,
        bundle: 'training',
        data: { run: 'shop-01' },
        ready: '.page',
      });
      await panel.send(runMessage(change));
    }
    async function showRollouts(): Promise<void> {
      await panel.send({ type: 'rollouts', step: 46, groups: groups() });
    }

    it('says who it is and where it stands, and can be stopped', async () => {
      await show();
      assert.equal(await text('h1'), 'shop-01');
      assert.equal(await text('.state'), 'running: sampling');
      const head = await text('.facts');
      for (const part of [
        'rehearse',
        'nano-1.7m',
        'retail-shop, 32 tasks, groups of 8',
        '46 of 120',
        '5 min',
      ])
        assert.ok(head.includes(part), `${part} in ${head}`);
      await panel.page.getByRole('button', { name: /^Stop: keeps/ }).click();
      assert.deepEqual(await last(), { type: 'stop' });
      await panel.send({ type: 'status', status: status({ state: 'stopped', message: 'Stopped by you.' }) });
      await panel.page.getByRole('button', { name: 'Resume' }).click();
      assert.deepEqual(await last(), { type: 'resume' });
    });

    it('warns by naming what is seen, and leads on', async () => {
      await show();
      assert.match(
        await text('.warnbar'),
        /status is delivered in 40 of 40 rehearsals; 28 records say pending/,
      );
      assert.deepEqual(await panel.page.locator('.warnbar code').allInnerTexts(), [
        'status',
        'delivered',
        'pending',
      ]);
      assert.equal(await panel.page.locator('.warnings').getAttribute('role'), 'alert');
      await panel.page.getByRole('button', { name: /^Keep best/ }).click();
      assert.deepEqual(await last(), { type: 'keepBest' });
      await panel.page.getByRole('button', { name: 'Open rollout 5 of step 46' }).click();
      assert.deepEqual(await last(), { type: 'rollout', step: 46, index: 4 });
    });

    it('shows the reality gap with its figure, where the two part, and the best checkpoint', async () => {
      await show();
      const gap = panel.page.locator('[data-chart="gap"]');
      assert.equal(await gap.locator('.gapmark b').innerText(), 'gap .47');
      assert.deepEqual(await gap.locator('.note').allInnerTexts(), [
        'they part at step 30',
        'best checkpoint, real success .59',
      ]);
      const ends = await gap.locator('.end').allInnerTexts();
      for (const end of ['.50 success on real tools', '.97 same tasks, rehearsed'])
        assert.ok(ends.includes(end), ends.join('; '));
      assert.match(await gap.locator('figcaption').innerText(), /They part at step 30/);
    });

    it('marks the best checkpoint, and does with one what a person wants', async () => {
      await show();
      assert.match(await text('.checkpoints tr.best'), /30\s*best/);
      assert.equal(await panel.page.locator('.checkpoints tr.best').getAttribute('aria-current'), 'true');
      await panel.page.getByLabel('What to do with the checkpoint of step 30').selectOption('branch');
      assert.deepEqual(await last(), { type: 'checkpoint', step: 30, do: 'branch' });
      assert.equal(
        await panel.page.getByLabel('What to do with the checkpoint of step 20').count(),
        0,
        'its weights are gone',
      );
    });

    it('has an equal table behind every chart, by keyboard', async () => {
      await show();
      const charts = await panel.page.locator('figure:visible').count();
      assert.ok(charts >= 14);
      for (const button of await panel.page.locator('figure:visible .head vscode-button').all()) {
        await button.focus();
        await press('Enter');
      }
      assert.equal(await panel.page.locator('figure .data:not([hidden]) table').count(), charts);
      assert.equal(await panel.page.locator('figure:visible .chart:not([hidden])').count(), 0);
      const row = await panel.page.locator('[data-chart="gap"] tbody tr').first().innerText();
      assert.match(row, /^46\s+\.9/);
      await press('Enter');
      assert.equal(
        await panel.page.locator('figure:visible .chart:not([hidden])').count(),
        1,
        'and back again',
      );
    });

    it('reads a chart by arrow keys, every chart at the same step, and picks by Enter', async () => {
      await show();
      const slider = panel.page.getByRole('slider', { name: 'Reality gap, by step' });
      await slider.focus();
      await press('Home', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight');
      assert.match(
        (await slider.getAttribute('aria-valuetext'))!,
        /^step 5: reward in rehearsal \.\d+, success on real tools \.36, same tasks, rehearsed \.42$/,
      );
      const entropy = panel.page.getByRole('slider', { name: 'Entropy, by step' });
      assert.match((await entropy.getAttribute('aria-valuetext'))!, /^step 5: ACT/);
      await press('Enter');
      assert.deepEqual(await last(), { type: 'rollouts', step: 5 });
      await press('Home', 'Enter');
      assert.deepEqual(await last(), { type: 'rollouts', step: 1 }, 'the start has no rollouts');
    });

    it('picks the step that is clicked', async () => {
      await show();
      const area = (await panel.page.locator('[data-chart="gap"] .u-over').boundingBox())!;
      await panel.page.mouse.click(area.x + area.width * (20 / 46) + 1, area.y + 60);
      assert.deepEqual(await last(), { type: 'rollouts', step: 20 });
    });

    it('appends steps without making the chart anew, and asks for the newest rollouts', async () => {
      await show({}, {});
      await panel.page.evaluate(
        `document.querySelector('[data-chart="entropy"] canvas').dataset.kept = 'yes'`,
      );
      await panel.send({ type: 'metrics', metrics: metrics(47).slice(47) });
      assert.equal(
        await panel.page.locator('[data-chart="entropy"] canvas').getAttribute('data-kept'),
        'yes',
      );
      assert.deepEqual(await last(), { type: 'rollouts', step: 47 });
    });

    it('stays at the step that a person chose while others come', async () => {
      await show();
      await panel.page.getByRole('slider', { name: 'Reality gap, by step' }).focus();
      await press('Home', 'PageUp', 'Enter');
      const before = (await posted()).length;
      await panel.send({ type: 'metrics', metrics: metrics(47).slice(47) });
      assert.equal((await posted()).length, before);
    });

    it('lays other runs over, each by a letter', async () => {
      await show();
      await panel.page.locator('.overlays summary').click();
      await panel.page.getByLabel(/act-only/).check();
      assert.deepEqual(await last(), { type: 'overlay', run: 'act-only-02' });
      await panel.send({ type: 'overlay', run: 'act-only-02', metrics: metrics(60) });
      const ends = await panel.page.locator('[data-chart="gap"] .end').allInnerTexts();
      assert.equal(ends.filter((end) => / B$/.test(end)).length, 3, ends.join('; '));
      await press('Escape');
      assert.equal(await panel.page.locator('.overlays').getAttribute('open'), null);
      assert.equal(await text('.overlays summary'), 'With B act-only');
    });

    it('shows groups side by side; what is not scored is dashed and never 0', async () => {
      await show();
      await showRollouts();
      const rows = panel.page.locator('.group:not(.heads)');
      assert.equal(await rows.count(), 4);
      assert.match(await rows.nth(1).innerText(), /1 not scored/);
      assert.match(await rows.nth(2).innerText(), /no spread, no gradient/);
      const none = panel.page.locator('.rollout.none');
      assert.equal(await none.innerText(), '–');
      assert.equal(await style('.rollout.none', 'borderTopStyle'), 'dashed');
      assert.match((await none.getAttribute('aria-label'))!, /not scored/);
    });

    it('moves over the cells by arrow keys with one tab stop, and opens by Enter', async () => {
      await show();
      await showRollouts();
      assert.equal(await panel.page.locator('.rollout[tabindex="0"]').count(), 1);
      await panel.page.locator('.rollout[tabindex="0"]').focus();
      await press('ArrowRight', 'ArrowDown', 'ArrowDown', 'Enter');
      assert.deepEqual(await last(), { type: 'rollout', step: 46, index: 17 });
      assert.equal(await panel.page.locator('.rollout[tabindex="0"]').count(), 1);
    });

    it('shows what each output of a rollout was worth, its tokens and its checks', async () => {
      await show();
      await showRollouts();
      await panel.send({ type: 'rollout', detail: detail() });
      assert.match(await text('.detail .head'), /Rollout 5\s+reward \.40, group mean \.93/);
      assert.deepEqual(await panel.page.locator('.output > summary .adv .num').allInnerTexts(), [
        '−0.494',
        '−0.467',
        '−0.494',
        '−0.467',
        '−0.494',
      ]);
      assert.match(await text('.outputs > li:last-child'), /check 1 fails/);
      await panel.page.locator('.output > summary').nth(1).click();
      const tokens = panel.page.locator('.output.rehearse .t');
      await tokens.nth(3).waitFor(); // a browser tells of the opening later
      assert.match((await tokens.first().getAttribute('class'))!, /worse/);
      assert.match(await text('.verdicts'), /fails[\s\S]*looks the order up/);
      assert.match(await text('.detail'), /Baseline of the role in this group: ACT \.894, REHEARSE \.867/);
    });

    it('opens the debugger, and says with which weights', async () => {
      await show();
      await panel.send({ type: 'rollout', detail: detail({ weights: 40 }) });
      assert.match(
        await text('.detail'),
        /With checkpoint 40, the nearest that is kept: step 45 sampled it\./,
      );
      await panel.page.getByRole('button', { name: 'Open in the debugger at turn 3' }).click();
      assert.deepEqual(await last(), { type: 'debug', step: 46, index: 4 });
    });

    it('compares two checkpoints, and says whether a difference can be told', async () => {
      await show();
      await panel.page.getByRole('button', { name: 'Compare Two' }).click();
      const first = { run: 'shop-01', step: 0 };
      const second = { run: 'shop-01', step: 30 };
      assert.deepEqual(await last(), { type: 'compare', first, second });
      const difference = { value: 0.26, low: 0.12, high: 0.4, n: 64 };
      const comparison = {
        first,
        second,
        measure: 'success on real tools',
        part: 'validation',
        firstMean: 0.33,
        secondMean: 0.59,
        difference,
        tasks: [{ task: 'cancel', first: 0, second: 1 }],
        same: 63,
      };
      await panel.send({ type: 'comparison', comparison });
      assert.match(
        await text('.compare .result'),
        /\+\.26\s+\.12 to \.40 \(95 %, n = 64\)[\s\S]*The second is better/,
      );
      await panel.send({
        type: 'comparison',
        comparison: { ...comparison, difference: { ...difference, low: -0.02 } },
      });
      assert.match(await text('.compare .result'), /No difference can be told/);
    });

    it('says what came of it on the test tasks', async () => {
      const of = metrics(45);
      const result = {
        step: 30,
        best: of[30]!.evaluation!,
        start: of[0]!.evaluation!,
        on: 'real' as const,
        difference: { value: 0.26, low: 0.12, high: 0.4, n: 64, better: 20, worse: 4, same: 40 },
      };
      await show({}, { state: 'done', result });
      assert.match(
        await text('section.result'),
        /\+\.26\s+test success on real tools: \.33 at the start, \.59 with the checkpoint of step 30/,
      );
    });

    it('shows what is told of a lost server, and forgets it when it is back', async () => {
      await show();
      await panel.send({
        type: 'notice',
        notice: { message: 'The server is gone.', action: { title: 'Start Server', id: 'startServer' } },
      });
      await panel.page.getByRole('button', { name: 'Start Server' }).click();
      assert.deepEqual(await last(), { type: 'action', id: 'startServer' });
      await panel.send({ type: 'notice', notice: null });
      assert.equal(await panel.page.locator('.errorbar').isVisible(), false);
    });

    it('makes nothing of what a model wrote but text', async () => {
      await show();
      const evil = '<img src=x onerror=alert(1)>\u202e\u0007';
      await panel.send({ type: 'rollouts', step: 46, groups: [{ ...groups()[0]!, task: evil }] });
      await panel.send({
        type: 'rollout',
        detail: detail({
          task: evil,
          outputs: [
            {
              role: 'act',
              turn: 1,
              summary: evil,
              source: null,
              advantage: 0.1,
              tokens: [{ text: evil, logprob: null }],
            },
          ],
        }),
      });
      await panel.page.locator('.output > summary').first().click();
      await panel.page.locator('.output .t').first().waitFor();
      assert.equal(await panel.page.locator('img').count(), 0);
      assert.ok((await text('.output code')).includes('\\u202e\\x07'));
    });

    it('moves nothing where motion is not wanted', async () => {
      await show({ context: { reducedMotion: 'reduce' } });
      assert.equal(await style('.state .live', 'animationName'), 'none');
    });

    it('begins with words where nothing is there yet', async () => {
      await show({}, { step: 0, state: 'starting', warnings: [], bestStep: null, checkpoints: [] });
      await panel.send({
        ...runMessage({ step: 0, state: 'starting', warnings: [], bestStep: null, checkpoints: [] }),
        metrics: [],
        runs: choices(),
      });
      assert.match(await text('[data-chart="gap"] figcaption'), /Nothing was evaluated yet/);
      assert.match(await text('.step .head'), /they show when the first step is done/);
    });

    for (const theme of PANEL_THEMES) {
      it(`fits its width in ${theme}, wide and narrow`, async () => {
        for (const width of [1280, 760, 420]) {
          if (width !== 1280) await panel.close();
          await show({ theme, width });
          await showRollouts();
          await panel.send({ type: 'rollout', detail: detail() });
          const over = await panel.page.evaluate('document.documentElement.scrollWidth - innerWidth');
          assert.ok((over as number) <= 0, `${width}: ${over} pixels too wide`);
        }
      });
    }
  });

  describe('over a training file', () => {
    const file = (change: Partial<FileView> = {}): FileView => ({
      name: 'shop.training.json',
      groups: fieldGroups(publishedTrainingSchema()),
      values: {
        environment: 'shop.rehearsal.json',
        tasks: { train: ['a', 'b'], validation: ['c'] },
        steps: 40,
      },
      problems: [],
      environments: ['shop.rehearsal.json', 'other.rehearsal.json'],
      tasks: ['a', 'b', 'c', 'd'],
      counts: { train: 2, validation: 1, test: 0 },
      models: ['nano-1.7m'],
      summary: '40 steps.',
      launchable: true,
      ...change,
    });
    async function show(change: Partial<FileView> = {}): Promise<void> {
      panel = await openPanel(browser, { width: 1100, bundle: 'training', data: {}, ready: '.page' });
      await panel.send({ type: 'file', file: file(change) });
    }

    it('shows what the file says, and the default where it says nothing', async () => {
      await show();
      assert.equal(await panel.page.getByLabel('Steps', { exact: true }).inputValue(), '40');
      assert.equal(await panel.page.getByLabel('Group size', { exact: true }).inputValue(), '');
      assert.equal(
        await panel.page.getByLabel('Group size', { exact: true }).getAttribute('placeholder'),
        '8',
      );
      assert.equal(await panel.page.getByLabel('Variant', { exact: true }).inputValue(), 'rehearse');
    });

    it('posts one change for each setting', async () => {
      await show();
      await panel.page.getByLabel('Group size', { exact: true }).fill('4');
      await press('Enter');
      assert.deepEqual(await last(), { type: 'set', path: ['groupSize'], value: 4 });
      await panel.page.getByLabel('Variant', { exact: true }).selectOption('act-only');
      assert.deepEqual(await last(), { type: 'set', path: ['variant'], value: 'act-only' });
      await panel.page.getByLabel('Steps', { exact: true }).fill('');
      await press('Tab');
      assert.deepEqual(await last(), { type: 'set', path: ['steps'] });
      await panel.page.getByLabel('Learning rate', { exact: true }).focus();
      await press('ArrowUp');
      assert.deepEqual(await last(), { type: 'set', path: ['learningRate'], value: 6e-4 });
    });

    it('ticks tasks into a part, and says where else they are', async () => {
      await show();
      await panel.page.locator('#field-tasks-train').click();
      const train = panel.page.locator('[data-path="tasks.train"]');
      assert.match(await train.innerText(), /c\s+in validation/);
      await train.getByLabel('d', { exact: true }).check();
      assert.deepEqual(await last(), { type: 'task', part: 'train', task: 'd', in: true });
    });

    it('says what is wrong at the field, opens its group, and does not launch', async () => {
      const problems = [
        { path: ['learningRate'], severity: 'error', message: 'It has to be above 0.' },
        { path: ['kl', 'act'], severity: 'error', message: 'This is no number.' },
        { path: [], severity: 'warning', message: 'There are no test tasks.' },
      ];
      await show({ problems, launchable: false, summary: 'Two things have to be corrected.' });
      assert.equal(
        await panel.page.getByLabel('Learning rate', { exact: true }).getAttribute('aria-invalid'),
        'true',
      );
      assert.match(await text('[data-path="learningRate"]'), /It has to be above 0/);
      assert.match(await text('[data-path="kl.act"]'), /This is no number/);
      assert.match(await text('.problems'), /no test tasks/);
      const before = (await posted()).length;
      await panel.page.getByRole('button', { name: 'Launch' }).click({ force: true });
      assert.equal((await posted()).length, before);
    });

    it('keeps the focus and what is typed while the file changes', async () => {
      await show();
      await panel.page.getByLabel('Group size', { exact: true }).pressSequentially('1');
      await panel.send({ type: 'file', file: file({ values: { steps: 41 } }) });
      await panel.page.keyboard.type('6');
      assert.equal(await panel.page.getByLabel('Group size', { exact: true }).inputValue(), '16');
      assert.equal(await panel.page.getByLabel('Steps', { exact: true }).inputValue(), '41');
    });

    it('tells what a run costs, and that settings have changed since', async () => {
      await show();
      await panel.page.getByRole('button', { name: 'Estimate' }).click();
      assert.deepEqual(await last(), { type: 'estimate' });
      const estimate = {
        state: 'measured',
        secondsPerStep: 4.2,
        tokensPerStep: 7000,
        memoryBytes: 3.2e8,
        seconds: 500,
        why: 'Measured on one step.',
      };
      await panel.send({ type: 'estimate', estimate });
      assert.match(await text('.cost'), /8 min[\s\S]*4\.2 s[\s\S]*7,000[\s\S]*305 MiB/);
      assert.equal(await panel.page.locator('.stale').isVisible(), false);
      await panel.send({ type: 'file', file: file({ values: { steps: 80 } }) });
      assert.equal(await panel.page.locator('.stale').isVisible(), true);
    });

    it('launches', async () => {
      await show();
      await panel.page.getByRole('button', { name: 'Launch' }).click();
      assert.deepEqual(await last(), { type: 'launch' });
    });
  });
});
