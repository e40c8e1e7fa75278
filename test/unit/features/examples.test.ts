import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { copyExamples } from '../../../src/features/examples/copy';

const examples = path.resolve(import.meta.dirname, '../../../examples');

describe('copying the examples', () => {
  let folder: string;
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-examples-'));
  });
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('makes a new folder each time and writes over nothing', async () => {
    const first = await copyExamples(examples, folder);
    fs.writeFileSync(path.join(first, 'mine.txt'), 'kept');
    const second = await copyExamples(examples, folder);
    assert.notEqual(first, second);
    assert.equal(fs.readFileSync(path.join(first, 'mine.txt'), 'utf8'), 'kept');
    const environments = fs.readdirSync(second, { recursive: true, encoding: 'utf8' });
    assert.ok(environments.some((file) => file.endsWith('.rehearsal.json')));
  });

  it('says what to do where the folder cannot be written', async () => {
    const file = path.join(folder, 'file');
    fs.writeFileSync(file, '');
    await assert.rejects(copyExamples(examples, file), { name: 'UserError' });
  });
});
