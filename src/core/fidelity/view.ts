/** From a comparison to what people see of it. Pure; every figure is the same as in the files of a comparison. */
import type { Environment, Example } from '../environment/types';
import { equalJson, type Json } from '../json';
import { previewJson } from '../preview';
import { authorRecord } from './author';
import { type ComparedCall, type ComparisonRun, counted, modelsRecord, summaryRecord } from './comparison';
import { cellOf, cut, WORST } from './rows';
import { verdictOf } from './summary';
import { AUTHOR_VERDICTS, type ComparisonView, type PairView, type SideView } from './view.types';

const SHOWN_FIELDS = 400;
const SHOWN_PAIR_FIELDS = 2000;
const SHOWN_MARKS = 6000;
const SHOWN_TEXT = 400;

export interface ComparisonHead {
  environment: string;
  what: string;
  created: string;
}

export function comparisonView(
  { environment, what, created }: ComparisonHead,
  runs: readonly ComparisonRun[],
  examples: readonly Example[] = [],
): ComparisonView {
  const models = runs.length > 1 ? modelsRecord(environment, runs) : null;
  return {
    environment,
    what,
    created,
    sides: runs.map((run) => sideView(environment, run, examples)),
    beside: models && withoutType(models),
  };
}

function withoutType({
  type: _,
  environment: __,
  ...rest
}: ReturnType<typeof modelsRecord>): ComparisonView['beside'] {
  return rest;
}

function sideView(environment: string, run: ComparisonRun, examples: readonly Example[]): SideView {
  const { model, pairs } = run;
  const summary = summaryRecord(environment, run);
  const { fidelity, outcomes, verdicts, anticipation, surprise, leftOut, gated, uncompared } = summary;
  const known = new ExampleIndex(examples);
  return {
    model,
    fidelity,
    outcomes,
    verdicts,
    anticipation,
    surprise: surprise && ratesOf(surprise),
    noSurprise: surprise || fidelity.n === 0 ? null : 'The server of this model cannot score answers.',
    unscored: surprise?.unscored ?? 0,
    leftOut,
    notRehearsed: gated,
    uncompared,
    author: AUTHOR_VERDICTS.map((verdict) => ({
      verdict,
      n: pairs.filter(({ author }) => author === verdict).length,
    })),
    differing: pairs.filter(
      ({ comparison, source }) => source === 'rehearsed' && comparison.verdict === 'differs',
    ).length,
    tools: summary.tools.map(({ tool, fidelity: own, outcomes: same, fields }) => {
      // What differs must not be left out, however many fields match.
      const shown =
        fields.length <= SHOWN_FIELDS
          ? fields
          : [
              ...fields.filter(({ fidelity: { good, n } }) => good < n),
              ...fields.filter(({ fidelity: { good, n } }) => good === n),
            ].slice(0, SHOWN_FIELDS);
      return {
        tool,
        fidelity: own,
        outcomes: same,
        fields: shown,
        more: fields.length - shown.length,
        surprise: surprise
          ? (surprise.tools
              .map(({ tool: name, ...rest }) => ({ name, rest }))
              .find(({ name }) => name === tool)?.rest ?? null)
          : null,
        recordable: counted(pairs).filter(
          (pair) => pair.tool === tool && verdictOf(pair) === 'differs' && !known.has(pair),
        ).length,
      };
    }),
  };
}

function ratesOf({
  bits,
  tokens,
  bytes,
  gaps,
  bitsPerToken,
  bitsPerByte,
}: NonNullable<SideView['surprise']>) {
  return { bits, tokens, bytes, gaps, bitsPerToken, bitsPerByte };
}

/** Whether a real answer stands among the examples already. */
export class ExampleIndex {
  private readonly byTool = new Map<string, Example[]>();

  constructor(examples: readonly Example[]) {
    for (const example of examples) {
      const own = this.byTool.get(example.tool);
      if (own) own.push(example);
      else this.byTool.set(example.tool, [example]);
    }
  }

  find({
    tool,
    arguments: args,
    real,
  }: Pick<ComparedCall, 'tool' | 'arguments' | 'real'>): Example | undefined {
    return this.byTool
      .get(tool)
      ?.find((example) => equalJson(example.arguments, args) && equalJson(example.value, real.value));
  }

  has(pair: Pick<ComparedCall, 'tool' | 'arguments' | 'real'>): boolean {
    return this.find(pair) !== undefined;
  }
}

export function pairView(
  pair: ComparedCall,
  { id, side }: { id: number; side: number },
  { examples }: Pick<Environment, 'examples'>,
): PairView {
  const { comparison, surprise } = pair;
  const { fields } = comparison;
  const order =
    fields.length > SHOWN_PAIR_FIELDS
      ? [...fields].sort((a, b) => WORST.indexOf(a.kind) - WORST.indexOf(b.kind))
      : fields;
  const marks = surprise?.marks.filter((mark) => mark.counted) ?? [];
  const record = authorRecord(examples, pair);
  return {
    id,
    side,
    tool: pair.tool,
    arguments: previewJson(pair.arguments, 2000).text,
    task: pair.task,
    index: pair.index,
    source: pair.source,
    recorded: pair.recorded,
    afterWrite: pair.afterWrite,
    durationMs: pair.durationMs,
    notes: pair.notes ?? [],
    verdict: cellOf(pair).verdict,
    computed: comparison.verdict,
    author: pair.author ?? null,
    note: record?.note ?? '',
    outcome: comparison.outcome,
    first: comparison.first?.path ?? null,
    fields: order.slice(0, SHOWN_PAIR_FIELDS).map((field) => ({
      path: field.path,
      field: field.field,
      kind: field.kind,
      rehearsed: field.rehearsed === undefined ? null : lineOf(field.rehearsed),
      real: field.real === undefined ? null : lineOf(field.real),
      label: field.label ?? null,
    })),
    moreFields: Math.max(0, fields.length - SHOWN_PAIR_FIELDS),
    raw: pair.raw === undefined ? null : cut(pair.raw, 4000),
    marks: marks.slice(0, SHOWN_MARKS).map(({ text, bits, counted: own }) => ({ text, bits, counted: own })),
    moreMarks: Math.max(0, marks.length - SHOWN_MARKS),
    surprise: surprise ? ratesOf(surprise) : null,
    unscored: pair.unscored ?? null,
    isExample: new ExampleIndex(examples).has(pair),
  };
}

/** The beginning of a value on one line: line ends inside of texts are escapes. */
function lineOf(value: Json): string {
  const { text, cut: isCut } = previewJson(value, SHOWN_TEXT);
  return (
    text
      .replace(/([[{])\n\s*/g, '$1')
      .replace(/\n\s*([\]}])/g, '$1')
      .replace(/\n\s*/g, ' ') + (isCut ? '…' : '')
  );
}
