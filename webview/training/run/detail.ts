/** One rollout: its outputs with what each was worth, its checks, its tokens, and the way into the debugger. */
import { el, fill, icon } from '../../common/dom';
import { logprob, share, words } from '../../common/format';
import { flowText, kindOf, printable } from '../../common/text';
import { button } from '../../common/toolkit';
import type { OutputDetail, RolloutDetail } from '../../common/training';

const VERDICTS: Record<string, { icon: string; look: string }> = {
  holds: { icon: 'check', look: 'pass' },
  fails: { icon: 'error', look: 'fail' },
};
/** A token's underline is heavier, the further its advantage is from none. */
const HEAVY = [0.05, 0.2, 0.5];

export class Detail {
  readonly element = el('section', { class: 'detail', 'aria-label': 'Rollout' });
  private readonly body = el('div');
  private shown: { step: number; index: number } | null = null;

  constructor(private readonly debug: (step: number, index: number) => void) {
    this.element.append(this.body);
    this.clear();
  }

  clear(): void {
    this.shown = null;
    const hint = 'Choose a rollout to see its outputs, what each was worth, and why.';
    fill(this.body, el('div', 'head', el('h2', {}, 'Rollout')), el('p', 'mute', hint));
  }

  isOf(step: number): boolean {
    return this.shown?.step === step;
  }

  show(detail: RolloutDetail): void {
    const { step, index, attempt, task, reward, mean, outputs, stop, turn, weights } = detail;
    this.shown = { step, index };
    this.element.setAttribute('aria-label', `Rollout ${attempt + 1} of ${printable(task)}`);
    const open = button({
      label: 'Open in Debugger',
      icon: 'debug-alt',
      name: `Open in the debugger at turn ${turn}`,
      onClick: () => this.debug(step, index),
    });
    open.title = `Turn ${turn}, ${weightsText(step, weights)}; it can be stepped on from there`;
    const largest = Math.max(1e-9, ...outputs.map(({ advantage }) => Math.abs(advantage ?? 0)));
    const scored = reward === null ? 'not scored' : `reward ${share(reward)}`;
    const group = mean === null ? '' : `, group mean ${share(mean)}`;
    fill(
      this.body,
      el(
        'div',
        'head',
        el('h2', {}, `Rollout ${attempt + 1}`),
        el('span', { class: 'unit', title: printable(task) }, `${scored}${group}, ${words(stop)}`),
        open,
      ),
      el(
        'ol',
        'outputs',
        el(
          'li',
          { class: 'output heads', 'aria-hidden': 'true' },
          el('span', {}, 'turn'),
          el('span', {}, 'output'),
          el('span', 'adv', 'advantage in its role'),
        ),
        ...outputs.map((output) => row(output, largest, detail)),
      ),
      checks(detail),
      el('p', 'mute foot', baseline(detail)),
      el('p', 'mute foot', `${capital(weightsText(step, weights))}.`),
    );
  }
}

function row(output: OutputDetail, largest: number, { checks: all }: RolloutDetail): HTMLElement {
  const { role, turn, summary, source, advantage, tokens } = output;
  const failed = all.flatMap((check, i) =>
    check.verdict === 'fails' && check.turn === turn && role === 'act' ? [i + 1] : [],
  );
  const text = printable(summary);
  const line = el(
    'summary',
    {},
    el('span', 'num mute', String(turn)),
    el('span', `role ${role}`, role === 'act' ? 'ACT' : 'REHEARSE'),
    el('code', { title: text }, text),
    el(
      'span',
      'marks',
      source && el('span', 'src', source),
      failed.length > 0 && el('span', 'fail', `check ${failed.join(', ')} fails`),
    ),
    advantageBar(advantage, largest),
  );
  const details = el('details', `output ${role}`, line);
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) details.append(tokensOf(tokens, advantage));
  });
  return el('li', {}, details);
}

/** To the right of the line is better than the group, to the left worse. */
function advantageBar(advantage: number | null, largest: number): HTMLElement {
  if (advantage === null) return el('span', { class: 'adv mute', title: 'Not trained on' }, 'none');
  const bar = el('i', advantage < 0 ? 'worse' : 'better');
  bar.style.width = `${(Math.abs(advantage) / largest) * 50}%`;
  bar.hidden = advantage === 0;
  return el(
    'span',
    { class: 'adv', 'aria-label': `advantage ${logprob(advantage)}` },
    el('span', { class: 'bar', 'aria-hidden': 'true' }, bar),
    el('span', 'num', logprob(advantage)),
  );
}

function tokensOf(tokens: OutputDetail['tokens'], advantage: number | null): HTMLElement {
  const weight = advantage === null ? 0 : HEAVY.filter((bound) => Math.abs(advantage) >= bound).length + 1;
  const look = advantage === null || advantage === 0 ? 'none' : advantage < 0 ? 'worse' : 'better';
  const spans = tokens.map((token) => {
    const kind = kindOf({ text: token.text });
    const text = token.text === '' ? '∎' : flowText({ ...PLAIN, text: token.text });
    const at = token.logprob === null ? '' : `\nlog-probability ${logprob(token.logprob)}`;
    return el(
      'span',
      {
        class: `t ${kind} ${look} w${weight}`,
        title: `advantage ${advantage === null ? 'none' : logprob(advantage)}${at}`,
      },
      text,
    );
  });
  return el('div', { class: 'toks', 'data-advantage': look }, ...spans);
}

const PLAIN = {
  node: 0,
  id: 0,
  logprob: null,
  entropy: null,
  rank: null,
  origin: 'sampled' as const,
  alternatives: [],
};

function checks({ checks: all }: RolloutDetail): HTMLElement {
  return el(
    'ol',
    { class: 'verdicts', 'aria-label': 'Checks' },
    ...all.map(({ title, verdict, reason }, i) => {
      const { icon: mark, look } = VERDICTS[verdict] ?? { icon: 'dash', look: 'mute' };
      return el(
        'li',
        {},
        el('span', 'num mute', String(i + 1)),
        el('span', `verdict ${look}`, icon(mark), verdict),
        el(
          'span',
          { class: 'what', title: printable(reason) },
          el('b', {}, printable(title)),
          reason && el('span', 'mute', ` ${printable(reason)}`),
        ),
      );
    }),
  );
}

function baseline({ baseline: { act, rehearse }, reward }: RolloutDetail): string {
  if (reward === null) return 'It could not be scored, so it enters no baseline and teaches nothing.';
  const parts = [act !== null && `ACT ${three(act)}`, rehearse !== null && `REHEARSE ${three(rehearse)}`];
  return `Baseline of the role in this group: ${parts.filter(Boolean).join(', ')}.`;
}

function three(value: number): string {
  return value.toFixed(3).replace(/^0/, '');
}

function weightsText(step: number, weights: number | null): string {
  if (weights === null) return 'with the weights that the run started from';
  // A step's rollouts are sampled with the weights that the step before left.
  return weights === step - 1
    ? `with the weights that sampled it (checkpoint ${weights})`
    : `with checkpoint ${weights}, the nearest that is kept: step ${step - 1} sampled it`;
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}
