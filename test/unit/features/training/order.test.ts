/** The list of training files that Launch Training offers. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { aboutOf, inOrder } from '../../../../src/features/training/order';

const SHOP = path.resolve(import.meta.dirname, '../../../../examples/shop');
const read = (file: string) => ({ file, text: fs.readFileSync(file, 'utf8') });

describe('training files as they are offered', () => {
  it('begin with the one that is called like its environment', () => {
    const files = ['please', 'shop'].map((name) => read(path.join(SHOP, `${name}.training.json`)));
    assert.deepEqual(
      inOrder(files).map(({ file }) => path.basename(file)),
      ['shop.training.json', 'please.training.json'],
    );
  });

  it('stand folder by folder, then by name, whatever is in them', () => {
    const broken = ['/b/a', '/a/z', '/a/c'].map((name) => ({ file: `${name}.training.json`, text: '{' }));
    const plain = { file: '/b/own.training.json', text: '{"environment": "../b/own.rehearsal.json"}' };
    assert.deepEqual(
      inOrder([...broken, plain]).map(({ file }) => file),
      ['/a/c.training.json', '/a/z.training.json', '/b/own.training.json', '/b/a.training.json'],
    );
  });

  it('are told apart by the first sentence of their own comment', () => {
    const { text } = read(path.join(SHOP, 'please.training.json'));
    assert.equal(aboutOf(text), 'A run that goes wrong on purpose.');
    assert.equal(aboutOf('/* Short\n * runs. More. */ {}'), 'Short runs.');
    assert.equal(aboutOf('{"name": "x"} // later'), '');
    assert.equal(aboutOf(`// ${'word '.repeat(60)}\n{}`).length, 120);
  });
});
