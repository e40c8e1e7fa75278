/** What every program that people run must hold. */
import assert from 'node:assert/strict';
import { build } from 'esbuild';
import { BUNDLES, options } from '../../build.mjs';

const CHECKS = 'src/core/reward/checks.ts';
const BOUND = 'src/node/bounded.ts';

describe('programs', () => {
  const programs = BUNDLES.filter(({ testsOnly }) => !testsOnly);

  it('are bounded wherever they evaluate checks, and these do', async () => {
    const evaluating: string[] = [];
    for (const program of programs) {
      const { metafile } = await build({ ...options(program, true), metafile: true as const, write: false });
      const [file, { inputs }] = Object.entries(metafile.outputs)[0]!;
      const holds = (source: string) => (inputs[source]?.bytesInOutput ?? 0) > 0;
      if (!holds(CHECKS)) continue;
      evaluating.push(file);
      assert.ok(holds(BOUND), `${file} evaluates checks and does not import ${BOUND}`);
    }
    assert.deepEqual(evaluating, ['dist/extension.cjs', 'dist/cli.js', 'dist/runner.js']);
  });
});
