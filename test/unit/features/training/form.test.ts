/** Every setting that the schema has can be reached on the page, by the schema's own words. */
import assert from 'node:assert/strict';
import { settingsOf } from '../../../../src/core/training/defaults';
import { publishedTrainingSchema } from '../../../../src/core/training/schema';
import { fieldGroups } from '../../../../src/features/training/form';

const groups = fieldGroups(publishedTrainingSchema());
const fields = groups.flatMap((group) => group.fields);
const keys = fields.map(({ path }) => path.join('.'));

describe('fields of the page over a training file', () => {
  it('are each there once', () => {
    assert.equal(new Set(keys).size, keys.length);
  });

  it('say in a sentence what they mean', () => {
    for (const { label, description } of fields) {
      assert.ok(label.length > 2);
      assert.match(description, /\.$/, `${label}: ${description}`);
    }
  });

  it('leave out no setting, and name no group "More"', () => {
    assert.ok(!groups.some(({ title }) => title === 'More'), 'each setting has its place');
    for (const key of [
      'environment',
      'tasks.train',
      'variant',
      'kl.rehearse',
      'learner.url',
      'judge.model',
      'onPleasing',
    ])
      assert.ok(keys.includes(key), key);
  });

  it('show what most people need, and fold the rest', () => {
    const open = groups
      .filter(({ folded }) => !folded)
      .flatMap((group) => group.fields.map(({ path }) => path.join('.')));
    for (const key of [
      'environment',
      'tasks.train',
      'tasks.validation',
      'variant',
      'model',
      'steps',
      'groupSize',
      'learningRate',
    ])
      assert.ok(open.includes(key), key);
    assert.ok(open.length <= 14);
  });

  it('show the defaults that a run has', () => {
    const settings = settingsOf({}) as unknown as Record<string, unknown>;
    for (const { path, default: shown } of fields) {
      if (shown === null) continue;
      let value: unknown = settings;
      for (const key of path) value = (value as Record<string, unknown> | null)?.[key];
      if (value !== undefined) assert.deepEqual(value, shown, path.join('.'));
    }
  });

  it('are those of the preset', () => {
    const paper = fieldGroups(publishedTrainingSchema(), 'paper').flatMap((group) => group.fields);
    const shown = (key: string) => paper.find(({ path }) => path.join('.') === key)!.default;
    assert.equal(shown('groupSize'), 4);
    assert.equal(shown('rehearsal.gates'), 'prompt');
    assert.equal(shown('steps'), 60);
  });

  it('offer what can be chosen', () => {
    const variant = fields.find(({ path }) => path[0] === 'variant')!;
    assert.equal(variant.kind, 'choice');
    assert.deepEqual(variant.options, ['rehearse', 'rehearse-per-role', 'act-only', 'real']);
  });

  it('put a setting that nobody has placed at the end, rather than nowhere', () => {
    const [more] = fieldGroups({
      properties: { brandNew: { type: 'integer', minimum: 1, default: 3, description: 'A setting.' } },
    }).slice(-1);
    assert.equal(more!.title, 'More');
    assert.deepEqual(more!.fields[0], {
      path: ['brandNew'],
      label: 'Brand new',
      kind: 'integer',
      description: 'A setting.',
      default: 3,
      minimum: 1,
    });
  });
});
