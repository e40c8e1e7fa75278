/** The virtual environment that the product makes, with packages that every one has: nothing is downloaded. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { homeAt } from '../../../../src/node/server/home';
import { ensurePython, installSize, SETUP_SIZE, UPGRADE_SIZE } from '../../../../src/node/server/python';
import { temporary } from '../../support/server';

const PINS = `[project]
name = "engine"
version = "1"
dependencies = ["pip>=1"]
[project.optional-dependencies]
learning = ["pip>=2"]
`;

describe('the Python of the server', function () {
  this.timeout(600_000);

  it('is made with what training needs, and one of an earlier version gets it too', async () => {
    const engine = temporary('engine');
    fs.writeFileSync(path.join(engine, 'pyproject.toml'), PINS);
    const home = homeAt(temporary('home'));
    const folder = path.join(home.pythons, createHash('sha256').update(PINS).digest('hex').slice(0, 12));
    const given = process.env.REHEARSAL_PYTHON;
    delete process.env.REHEARSAL_PYTHON;
    try {
      assert.equal(await installSize(engine, home), SETUP_SIZE);
      fs.mkdirSync(folder, { recursive: true });
      fs.writeFileSync(path.join(folder, '.complete'), '3.11\n');
      assert.equal(await installSize(engine, home), UPGRADE_SIZE);
      const told: string[] = [];
      const made = await ensurePython(engine, home, { onProgress: (line) => told.push(line) });
      assert.ok(made.startsWith(folder) && fs.existsSync(made));
      assert.ok(
        told.some((line) => line.includes(UPGRADE_SIZE)),
        told.join('\n'),
      );
      assert.equal(fs.readFileSync(path.join(folder, 'requirements.txt'), 'utf8').trim(), 'pip>=1\npip>=2');
      assert.equal(await installSize(engine, home), null);
    } finally {
      if (given !== undefined) process.env.REHEARSAL_PYTHON = given;
    }
  });
});
