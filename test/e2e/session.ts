/** The session panel, the debugger and the transcript as a person sees them. */
import type { Frame, Locator, Page } from 'playwright-core';
import { until, webviewWith } from '../harness/page';

export type StepName = 'token' | 'output' | 'turn' | 'continue' | 'pause' | 'back' | 'restart' | 'stop';

/** Where the session stands, as the panel says it. */
export interface Standing {
  reason: string;
  /** Text of every token of the branch shown, stored ones ahead included. */
  tokens: string[];
  /** How many tokens stand at or before the cursor. */
  behind: number;
  branches: number;
}

export class SessionPage {
  private constructor(
    readonly page: Page,
    public panel: Frame,
  ) {}

  /** The panel that is open or is being opened. */
  static async of(page: Page, timeout = 120_000): Promise<SessionPage> {
    return new SessionPage(page, await webviewWith(page, '.steps', timeout));
  }

  async standing(): Promise<Standing> {
    return (await this.panel.evaluate(`(() => {
      const all = (selector) => [...document.querySelectorAll(selector)];
      const spans = all('.turns .t');
      return {
        reason: document.querySelector('.steps .reason')?.textContent ?? '',
        tokens: spans.map((span) => span.textContent),
        behind: spans.filter((span) => !span.classList.contains('ahead')).length,
        branches: all('.branches .branch').length,
      };
    })()`)) as Standing;
  }

  /** Waits for a stop whose reason matches. */
  async stopped(reason: RegExp = /^(Stopped|Paused|Ended)/, timeout = 60_000): Promise<Standing> {
    return until(
      async () => {
        const standing = await this.standing();
        return reason.test(standing.reason) && !(await this.isBusy()) && standing;
      },
      `a stop (${reason})`,
      timeout,
    );
  }

  async isBusy(): Promise<boolean> {
    return (await this.button('pause').getAttribute('aria-disabled')) === 'false';
  }

  button(step: StepName): Locator {
    return this.panel.locator(`[data-step="${step}"]`);
  }

  /** Presses a button of the panel and waits until the session stands again. */
  async step(step: StepName): Promise<Standing> {
    // What cannot be pressed does nothing, and nothing would come of it.
    await this.panel.locator(`[data-step="${step}"]:not([aria-disabled="true"])`).waitFor();
    const before = await this.standing();
    await this.button(step).click();
    return this.moved(before);
  }

  /** Presses a key of the debugger and waits until the session stands again. */
  async key(key: string): Promise<Standing> {
    // VS Code hears of a stop after the panel, and the same key means something else until then.
    await this.page.locator('.debug-toolbar .codicon-debug-step-into:not(.disabled)').waitFor();
    const before = await this.standing();
    await this.page.keyboard.press(key);
    return this.moved(before);
  }

  private async moved(before: Standing): Promise<Standing> {
    return until(
      async () => {
        const now = await this.standing();
        const differs = now.reason !== before.reason || now.behind !== before.behind;
        return differs && !(await this.isBusy()) && /^(Stopped|Paused|Ended)/.test(now.reason) && now;
      },
      `a step after "${before.reason}"`,
      60_000,
    );
  }

  /** Token spans of an ACT output. */
  act(turn: number): Locator {
    return this.panel
      .locator('.turn')
      .nth(turn - 1)
      .locator('.out.act .t');
  }

  /** Opens the alternatives at a token of an ACT output by hovering over it. */
  private async alternatives(turn: number, place: number): Promise<Locator> {
    const card = this.panel.locator('.card.float');
    await this.page.mouse.move(5, 5);
    await card.waitFor({ state: 'hidden' }); // that of the token that the pointer was over before
    const token = this.act(turn).nth(place);
    await token.scrollIntoViewIfNeeded();
    await token.hover();
    await card.and(this.panel.locator(`[aria-label^="Alternatives at token ${place + 1} of"]`)).waitFor();
    return card;
  }

  /** Forks at a token of an ACT output by choosing one of its alternatives, named by its id or its text. */
  async choose(turn: number, place: number, alternative: number | string): Promise<Standing> {
    const folded = this.panel
      .locator('.turn')
      .nth(turn - 1)
      .locator('.fold[aria-expanded="false"]');
    if (await folded.count()) await folded.click();
    const before = await this.standing();
    const card = await this.alternatives(turn, place);
    const row =
      typeof alternative === 'number'
        ? card.locator(`[data-id="${alternative}"]`)
        : card.locator('li[data-id]', { has: this.panel.locator(`code[title="${alternative}"]`) });
    await row.click();
    return until(async () => {
      const now = await this.standing();
      const moved = now.tokens.join() !== before.tokens.join() || now.behind !== before.behind;
      return moved && !(await this.isBusy()) && now;
    }, 'the fork');
  }

  /** Presses Continue, and Pause as soon as tokens come; gives where it then stands. */
  async continueAndPause(): Promise<Standing> {
    await this.panel.evaluate(`new Promise((done) => {
      const button = (step) => document.querySelector('[data-step="' + step + '"]');
      button('continue').click();
      const timer = setInterval(() => {
        const ended = document.querySelector('.steps .reason').textContent.startsWith('Ended');
        if (!ended && (document.querySelectorAll('.turns .t').length < 3 || button('pause').ariaDisabled === 'true')) return;
        clearInterval(timer);
        button('pause').click();
        done();
      }, 5);
    })`);
    return this.stopped();
  }

  /** Call stack, the debugger's own view of where the session stands: name and place of the top frame. */
  async topFrame(): Promise<{ name: string; line: number; column: number }> {
    const text = (await this.page.locator('.debug-call-stack .monaco-list-row').first().innerText()).split(
      '\n',
    );
    const [line, column] = text.at(-1)!.split(':').map(Number);
    return { name: text[0]!, line: line!, column: column! };
  }

  /** Number of the transcript line that the debugger highlights. */
  async highlightedLine(): Promise<number> {
    const mark = this.page.locator('.debug-top-stack-frame-line, .debug-focused-stack-frame-line').first();
    await mark.waitFor();
    const box = await mark.boundingBox();
    if (!box) return 0; // it is just being drawn anew
    const numbers = this.page.locator(
      '.editor-group-container:has([data-resource-name$=".rehearsal-log"]) .line-numbers',
    );
    for (const number of await numbers.all()) {
      const at = await number.boundingBox();
      if (at && Math.abs(at.y - box.y) < 3) return Number(await number.innerText());
    }
    return 0;
  }

  /** Panel, call stack and transcript must tell the same position. */
  async assertSamePosition(): Promise<void> {
    const here = this.panel.locator('.t.here');
    const place = /token (\d+) of \d+/.exec((await here.last().getAttribute('aria-label')) ?? '')?.[1];
    const frame = await until(async () => {
      const top = await this.topFrame();
      return new RegExp(`token ${place}$`).test(top.name) && top;
    }, `token ${place} in the call stack`);
    await until(
      async () => (await this.highlightedLine()) === frame.line,
      `the transcript to show line ${frame.line}, that of the top frame`,
    );
  }
}
