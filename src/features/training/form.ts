/**
 * Fields of the page over a training file, from the published schema: its descriptions and defaults are the only
 * ones. What the schema has and no group names goes into the last group, so that no setting is ever out of reach.
 */
import type { Field, FieldGroup } from '../../../webview/common/training';
import { isObject, type JsonObject } from '../../core/json';
import { PRESETS, settingsOf } from '../../core/training/defaults';
import type { Settings } from '../../core/training/types';

type Preset = Settings['preset'];

interface Layout {
  title: string;
  description: string;
  folded?: boolean;
  paths: readonly string[];
}

/** What most people need first; the rest is folded. */
const LAYOUT: readonly Layout[] = [
  {
    title: 'What is trained',
    description: '',
    paths: [
      'environment',
      'tasks.train',
      'tasks.validation',
      'tasks.test',
      'variant',
      'model',
      'weights',
      'rank',
    ],
  },
  {
    title: 'How much',
    description: '',
    paths: ['steps', 'tasksPerStep', 'groupSize', 'learningRate'],
  },
  {
    title: 'Evaluation and checkpoints',
    description: 'when the real tools are asked, and what is kept',
    folded: true,
    paths: ['evaluation', 'checkpoints', 'onPleasing'],
  },
  {
    title: 'Honesty',
    description: 'what keeps rehearsals truthful, and how they go',
    folded: true,
    paths: ['replayShare', 'kl', 'rehearsal', 'examples'],
  },
  {
    title: 'Learning',
    description: 'loss, advantages, randomness',
    folded: true,
    paths: ['preset', 'loss', 'advantage', 'seed', 'concurrency', 'start', 'name'],
  },
  {
    title: 'Where it runs',
    description: 'other servers than our own',
    folded: true,
    paths: ['learner', 'sampler', 'judge'],
  },
];

const LABELS: Record<string, string> = {
  'tasks.train': 'Training tasks',
  'tasks.validation': 'Validation tasks',
  'tasks.test': 'Test tasks',
  weights: 'Trained weights',
  rank: 'Rank of the adapter',
  start: 'Branch from',
  'evaluation.every': 'Evaluate every … steps',
  'evaluation.attempts': 'Attempts at each task',
  'evaluation.recorded': 'Recorded calls too',
  'checkpoints.every': 'Checkpoint every … steps',
  'checkpoints.keep': 'Checkpoints kept',
  onPleasing: 'When it pleases',
  replayShare: 'Replayed records',
  examples: 'Recorded calls',
  'rehearsal.gates': 'Gates',
  'rehearsal.reuseExamples': 'Reuse recorded answers',
  'rehearsal.onGateFailed': 'After a refused call',
  'rehearsal.maxTurns': 'Turns at most',
  'kl.act': 'KL weight, ACT',
  'kl.rehearse': 'KL weight, REHEARSE',
  'loss.name': 'Loss',
  'loss.clip': 'Clip',
  'advantage.normalizeByStd': 'Divide by the spread',
  'advantage.singleton': 'A single output',
  name: 'Name of its runs',
};

/** Not for people to set. */
const HIDDEN = new Set(['$schema']);
const GROUP_NAMES: Record<string, string> = { learner: 'Learner', sampler: 'Sampler', judge: 'Judge' };

/**
 * @param schema as `publishedTrainingSchema` gives it
 * @param preset whose defaults are shown where they are others than the schema's
 */
export function fieldGroups(schema: JsonObject, preset: Preset = 'default'): FieldGroup[] {
  const defaults = { ...settingsOf({ preset }), rehearsal: PRESETS[preset].rehearsal };
  const fields = leaves(schema, []).map((field) => withDefault(field, defaults));
  const taken = new Set<string>();
  const groups = LAYOUT.map(({ title, description, folded = false, paths }) => {
    const own = paths.flatMap((path) => fields.filter((field) => isUnder(keyOf(field), path)));
    for (const field of own) taken.add(keyOf(field));
    return { title, description, folded, fields: own };
  });
  const rest = fields.filter((field) => !taken.has(keyOf(field)));
  if (rest.length > 0)
    groups.push({ title: 'More', description: 'other settings', folded: true, fields: rest });
  return groups;
}

/** `null` where nothing holds unless the file says so. */
function withDefault(field: Field, defaults: object): Field {
  let value: unknown = defaults;
  for (const key of field.path) value = (value as Record<string, unknown> | null | undefined)?.[key];
  const isSimple = ['string', 'number', 'boolean'].includes(typeof value);
  return isSimple ? { ...field, default: value } : field;
}

function leaves(schema: JsonObject, path: readonly string[]): Field[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property) || HIDDEN.has(name)) return [];
    const at = [...path, name];
    return isObject(property.properties) ? leaves(property, at) : [fieldOf(property, at)];
  });
}

function fieldOf(schema: JsonObject, path: string[]): Field {
  const { description, minimum, exclusiveMinimum, maximum } = schema;
  const options = Array.isArray(schema.enum) ? schema.enum.map(String) : undefined;
  const least = typeof minimum === 'number' ? minimum : exclusiveMinimum;
  return {
    path,
    label: labelOf(path),
    kind: kindOf(schema, path),
    description: typeof description === 'string' ? description : '',
    default: schema.default ?? null,
    ...(options && { options }),
    ...(typeof least === 'number' && { minimum: least }),
    ...(typeof maximum === 'number' && { maximum }),
  };
}

function kindOf(schema: JsonObject, path: readonly string[]): Field['kind'] {
  const key = path.join('.');
  if (path[0] === 'tasks') return 'tasks';
  if (key === 'environment' || key === 'model') return key;
  if (Array.isArray(schema.enum)) return 'choice';
  switch (schema.type) {
    case 'integer':
      return 'integer';
    case 'number':
      return 'number';
    case 'boolean':
      return 'flag';
    default:
      return 'text';
  }
}

function labelOf(path: readonly string[]): string {
  const known = LABELS[path.join('.')];
  if (known) return known;
  const last = words(path.at(-1)!);
  const group = path.length > 1 ? GROUP_NAMES[path[0]!] : undefined;
  return group ? `${group}: ${last.toLowerCase()}` : last;
}

/** "tasksPerStep" as "Tasks per step". */
function words(name: string): string {
  const text = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function isUnder(key: string, path: string): boolean {
  return key === path || key.startsWith(`${path}.`);
}

function keyOf({ path }: Field): string {
  return path.join('.');
}
