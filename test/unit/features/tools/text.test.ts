import assert from 'node:assert/strict';
import { type Question, questionText } from '../../../../src/features/tools/text';

const question = (more: Partial<Question> = {}): Question => ({
  environment: 'shop',
  identity: { kind: 'module', what: 'tools.mjs', folder: '/home/me/shop', hash: 'h' },
  missing: { executor: true, tools: [] },
  ...more,
});
const write = { executor: false, tools: ['cancel_order'] };

describe('the question before a real tool runs', () => {
  it('says what would run, with which arguments, and where', () => {
    const call = { tool: 'cancel_order', arguments: { order_id: '#W1' } };
    const { message, detail } = questionText(question({ missing: write, call }));
    assert.equal(message, 'Execute cancel_order for real?');
    for (const part of [
      'module tools.mjs',
      '/home/me/shop',
      '"order_id": "#W1"',
      'may change',
      'Manage Consents',
    ])
      assert.ok(detail.includes(part), part);
  });

  it('names a command line, and an address', () => {
    const command = { kind: 'command', what: 'python3 tools.py', folder: '/f', hash: 'h' };
    assert.match(
      questionText(question({ identity: command })).detail,
      /runs the program python3 tools\.py\nin \/f/,
    );
    const mcp = { kind: 'mcp', what: 'https://example.org/mcp', hash: 'h' };
    assert.match(
      questionText(question({ identity: mcp })).detail,
      /sends requests to https:\/\/example\.org\/mcp/,
    );
  });

  it('lists every tool of a batch', () => {
    const tools = ['cancel_order', 'change_address'];
    const { message, detail } = questionText(question({ missing: { executor: true, tools } }));
    assert.equal(message, 'Execute 2 tools of shop for real?');
    for (const tool of tools) assert.ok(detail.includes(`• ${tool}`));
  });

  it('stays readable whatever a model wrote into a call', () => {
    const call = { tool: 'a\u001b[31m\u202e', arguments: { text: 'x'.repeat(1e6) } };
    const { message, detail } = questionText(question({ missing: write, call }));
    assert.doesNotMatch(message + detail, /[\u001b\u202e]/u);
    assert.ok(detail.length < 2000);
    assert.match(detail, /1000\d\d characters|10000\d\d characters/);
  });
});
