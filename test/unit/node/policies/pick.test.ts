/** Which model is meant by a name: a model, a checkpoint, or a run. */
import assert from 'node:assert/strict';
import type { NodeError } from '../../../../src/node/errors';
import { ModelServer } from '../../../../src/node/policies/http';
import type { ModelCard } from '../../../../src/node/policies/models';
import { pickModel } from '../../../../src/node/policies/pick';
import { type FakeServer, modelServer } from '../../support/model-server';

const card = (id: string): ModelCard => ({ id, ownedBy: 'rehearsal', contextLength: 4096, endIds: [] });
const CARDS = [
  'nano',
  'shop-1/step-40',
  'shop-1/step-10',
  'shop-1/step-20',
  'roles-1/step-5.act',
  'roles-1/step-5.rehearse',
].map(card);

const checkpoint = (step: number, kept = true) => ({ step, model: `shop-1/step-${step}`, kept });

describe('the name of a model', () => {
  let server: FakeServer;
  let runs: { [id: string]: object };
  beforeEach(async () => {
    runs = {};
    server = await modelServer(({ path }) => runs[path]);
  });
  afterEach(() => server.close());

  const picked = (wanted?: string) => pickModel(new ModelServer({ baseUrl: server.url }), CARDS, wanted);
  const refused = async (wanted: string) => {
    const error = await picked(wanted).then(
      () => assert.fail(),
      (thrown: NodeError) => thrown,
    );
    assert.equal(error.code, 'model-unknown');
    return `${error.message} ${error.next}`;
  };
  const isRun = (bestStep: number | null, checkpoints: object[]) => {
    runs['/runs/shop-1'] = { id: 'shop-1', bestStep, checkpoints };
  };

  it('is that model, or the first where none is named', async () => {
    assert.deepEqual([(await picked()).card.id, (await picked()).note], ['nano', null]);
    assert.equal((await picked('shop-1/step-10')).card.id, 'shop-1/step-10');
    assert.equal((await picked('shop-1/10')).card.id, 'shop-1/step-10');
    assert.equal(server.asked.filter(({ path }) => path === '/runs/nano').length, 0);
  });

  it('of a run is its best checkpoint, and that is said', async () => {
    isRun(20, [checkpoint(10), checkpoint(20), checkpoint(40)]);
    const { card: found, note } = await picked('shop-1');
    assert.equal(found.id, 'shop-1/step-20');
    assert.equal(note, 'shop-1 is a training run: its best checkpoint, shop-1/step-20, is used.');
  });

  it('of a run without a best one that is kept is its last, also where the server knows no runs', async () => {
    isRun(20, [checkpoint(10), checkpoint(20, false), checkpoint(40, false)]);
    assert.equal((await picked('shop-1')).card.id, 'shop-1/step-10');
    isRun(null, [checkpoint(40), checkpoint(10)]);
    assert.match((await picked('shop-1')).note!, /its last checkpoint .*shop-1\/step-40/);
    isRun(20, [null as never]);
    assert.match((await picked('shop-1')).note!, /its last checkpoint .*shop-1\/step-40/);
    runs = {};
    assert.match((await picked('shop-1')).note!, /its last checkpoint .*shop-1\/step-40/);
    assert.equal((await picked('roles-1')).card.id, 'roles-1/step-5.act');
  });

  it('that is none is refused with what there is', async () => {
    isRun(20, [checkpoint(10), checkpoint(20)]);
    assert.match(
      await refused('shop-1/30'),
      /shop-1 keeps no checkpoint of step 30\. It has those of steps 10, 20; shop-1 alone is the best/,
    );
    for (const unknown of ['shop-2', 'shop-2/step-1', 'a/b/c'])
      assert.match(
        await refused(unknown),
        /no model called .*It offers: nano, shop-1 \(a run, of steps 10, 20, 40\), roles-1 \(a run, of steps 5\)\./,
      );
    isRun(null, []);
    assert.match(await refused('shop-1'), /shop-1 keeps no checkpoint/);
  });
});
