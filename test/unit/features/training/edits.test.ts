/** Whoever changes a setting on the page finds the rest of the file as it was: comments, order, line ends. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyEdits, parse } from 'jsonc-parser';
import { pathAt, setTask, setValue } from '../../../../src/features/training/edits';

const FILE = `{
  // the shop of the tutorial
  "environment": "shop.rehearsal.json",
  "tasks": {
    "train": ["a", "b"], /* easy ones */
    "validation": "validation.jsonl",
  },
  "kl": { "act": 0.1 }, // keeps it near
}
`;

const set = (path: string[], value: unknown, text = FILE) => applyEdits(text, setValue(text, path, value));
const read = (text: string) => parse(text, [], { allowTrailingComma: true });

describe('edits of a training file', () => {
  it('change one value and keep every comment', () => {
    const text = set(['steps'], 40);
    assert.equal(read(text).steps, 40);
    for (const comment of ['// the shop of the tutorial', '/* easy ones */', '// keeps it near'])
      assert.ok(text.includes(comment), comment);
    assert.ok(text.includes('\n  "steps": 40'), text);
  });

  it('make the group that a setting stands in', () => {
    assert.deepEqual(read(set(['evaluation', 'every'], 5)).evaluation, { every: 5 });
  });

  it('take a setting out, and its group where nothing is left in it', () => {
    const text = set(['kl', 'act'], undefined);
    assert.deepEqual(Object.keys(read(text)), ['environment', 'tasks']);
    assert.ok(!text.includes('"kl"'));
    assert.equal(set(['kl', 'rehearse'], undefined), FILE, 'what is not there changes nothing');
  });

  it('put a task at the end of its part and take it out again', () => {
    const added = applyEdits(FILE, setTask(FILE, 'train', 'c', true));
    assert.deepEqual(read(added).tasks.train, ['a', 'b', 'c']);
    const removed = applyEdits(added, setTask(added, 'train', 'a', false));
    assert.deepEqual(read(removed).tasks.train, ['b', 'c']);
    assert.ok(removed.includes('/* easy ones */'));
    assert.deepEqual(read(applyEdits(FILE, setTask(FILE, 'test', 'z', true))).tasks.test, ['z']);
  });

  it('leave a part alone that names a file, and a task that is there already', () => {
    assert.deepEqual(setTask(FILE, 'validation', 'c', true), []);
    assert.deepEqual(setTask(FILE, 'train', 'a', true), []);
    assert.deepEqual(setTask(FILE, 'train', 'z', false), []);
  });

  it('write as the file is written', () => {
    const tabs = '{\r\n\t"environment": "e"\r\n}\r\n';
    assert.equal(set(['steps'], 3, tabs), '{\r\n\t"environment": "e",\r\n\t"steps": 3\r\n}\r\n');
  });

  it('never throw, whatever stands in the file', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('train', 'kl.act', 'steps'), (text, path) => {
        setValue(text, path.split('.'), 3);
        setValue(text, path.split('.'), undefined);
        setTask(text, 'train', 'a', true);
        pathAt(text, 3);
      }),
    );
  });

  it('read back what was set, in any file that is one', () => {
    const values = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue());
    fc.assert(
      fc.property(values, fc.constantFrom('steps', 'seed'), fc.integer(), (file, key, value) => {
        const text = JSON.stringify(file, null, 2);
        assert.deepEqual(read(set([key], value, text)), { ...JSON.parse(text), [key]: value });
      }),
    );
  });

  it('know the field of a problem from its place', () => {
    assert.deepEqual(pathAt(FILE, FILE.indexOf('0.1') + 1), ['kl', 'act']);
    assert.deepEqual(pathAt(FILE, FILE.indexOf('"b"') + 1), ['tasks', 'train']);
    assert.deepEqual(pathAt(FILE, 0), []);
  });
});
