/** Ids are written in `ids.ts` and in package.json: neither may have one that the other has not. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DEFAULT_OPTIONS } from '../../../src/core/rehearsal/options';
import * as ids from '../../../src/features/ids';

const root = path.resolve(import.meta.dirname, '../../..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const { contributes } = manifest;

const sorted = (values: Iterable<string>) => [...new Set(values)].sort();
const valuesOf = (group: Record<string, string>) => sorted(Object.values(group));

/** Every string in package.json's contributions, wherever it stands. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(strings);
}

describe('ids and package.json', () => {
  it('have the same commands', () => {
    assert.deepEqual(
      sorted(contributes.commands.map((c: { command: string }) => c.command)),
      valuesOf(ids.Command),
    );
  });

  it('have the same views and view container', () => {
    const views = Object.values<{ id: string }[]>(contributes.views).flat();
    assert.deepEqual(sorted(views.map(({ id }) => id)), valuesOf(ids.View));
    assert.deepEqual(
      contributes.viewsContainers.activitybar.map((c: { id: string }) => c.id),
      [ids.ViewContainer],
    );
  });

  it('have the same walkthrough', () => {
    const found = contributes.walkthroughs.map((w: { id: string }) => w.id);
    assert.deepEqual(found, [ids.WALKTHROUGH]);
  });

  it('have the same settings', () => {
    const names = contributes.configuration.flatMap((section: { properties: object }) =>
      Object.keys(section.properties),
    );
    assert.deepEqual(sorted(names), valuesOf(ids.Setting));
  });

  it('sample by default as the command line does', () => {
    const settings = Object.assign(
      {},
      ...contributes.configuration.map((section: { properties: object }) => section.properties),
    );
    for (const name of ['temperature', 'seed', 'alternatives'] as const) {
      assert.equal(settings[ids.Setting[name]].default, DEFAULT_OPTIONS[name]);
    }
  });

  it('have the same languages and debug type', () => {
    assert.deepEqual(sorted(contributes.languages.map((l: { id: string }) => l.id)), valuesOf(ids.Language));
    assert.deepEqual(
      contributes.debuggers.map((d: { type: string }) => d.type),
      [ids.DEBUG_TYPE],
    );
    const transcript = contributes.languages.find((l: { id: string }) => l.id === ids.Language.transcript);
    assert.deepEqual(transcript.extensions, [ids.TRANSCRIPT_EXTENSION]);
  });

  it('use only commands, views and context keys that exist', () => {
    const known = new Set([
      ...Object.values<string>(ids.Command),
      ...Object.values<string>(ids.View),
      ...Object.values<string>(ids.Setting),
      ...Object.values<string>(ids.ContextKey),
      ids.TRAINING_EDITOR,
      ...contributes.colors.map((c: { id: string }) => c.id),
      'rehearsal.attempt', // the contextValue of test messages
    ]);
    const texts = strings(contributes).filter((text) => !/^(\.\/)?media\//.test(text));
    const used = texts.flatMap((text) => text.match(/(?<![\w-])rehearsal\.[\w.]*\w/g) ?? []);
    const unknown = used.filter((id) => !known.has(id) && id !== 'rehearsal.json');
    assert.deepEqual(sorted(unknown), []);
  });

  it('names no file that is missing', () => {
    const files = strings(contributes).filter((text) => /^(\.\/)?media\//.test(text));
    assert.ok(files.length > 5);
    assert.deepEqual(
      files.filter((file) => !existsSync(path.join(root, file))),
      [],
    );
  });

  it('lets no workspace choose the server, the interpreter or the model before it is trusted', () => {
    const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
    const { serverAddress, serverPython, serverHome, model, trustAnnotations, judgeAddress } = ids.Setting;
    assert.deepEqual(
      sorted(restricted),
      sorted([serverAddress, serverPython, serverHome, model, trustAnnotations, judgeAddress]),
    );
  });
});
