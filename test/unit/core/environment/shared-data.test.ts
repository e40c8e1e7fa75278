import assert from 'node:assert/strict';
import { loadEnvironment } from '../../../../src/core/environment/load';
import { sharedLines, sharedText } from '../../shared-data';

async function load(tools: unknown[]) {
  const { environment, diagnostics } = await loadEnvironment(JSON.stringify({ tools }), {
    path: 'x',
    read: async () => '',
  });
  return { tools: environment!.tools, diagnostics };
}

describe('public tools', () => {
  it('tau2 retail: all load', async function () {
    const list = JSON.parse(sharedText(this, 'data/tau2/retail_tools_openai.json'));
    const { tools, diagnostics } = await load(list);
    assert.deepEqual(diagnostics, []);
    assert.equal(tools.length, list.length);
  });

  for (const server of ['filesystem', 'memory']) {
    it(`MCP server ${server}: all load, with what they declare read-only`, async function () {
      const answer = JSON.parse(sharedText(this, `data/mcp/mcp_tools_list_${server}.json`));
      const { tools, diagnostics } = await load(answer.result.tools);
      assert.deepEqual(diagnostics, []);
      assert.equal(tools.length, answer.result.tools.length);
      const hinted = answer.result.tools.filter(
        (t: { annotations?: { readOnlyHint?: boolean } }) => t.annotations?.readOnlyHint,
      );
      assert.equal(tools.filter((tool) => tool.readOnly).length, hinted.length);
    });
  }

  it('BFCL: every tool is one diagnostic that tells its foreign type', async function () {
    const list = sharedLines(this, 'data/bfcl/func_doc_math_api.json');
    const { tools, diagnostics } = await load(list);
    assert.equal(tools.length, list.length);
    assert.equal(diagnostics.length, list.length);
    for (const { message } of diagnostics) assert.match(message, /type "dict" at \/ \(write "object"\)/);
  });

  it('real MCP schemas with quirks: all load but those that no JSON Schema is, each one diagnostic', async function () {
    const { examples } = JSON.parse(sharedText(this, 'data/mcp/real_schema_quirks.json')) as {
      examples: { quirk: string; tool: { name: string } }[];
    };
    const wrong = new Map<string, string[]>();
    for (const { quirk, tool } of examples) {
      const { tools, diagnostics } = await load([tool]);
      assert.equal(tools.length, 1, quirk);
      assert.ok(diagnostics.length <= 1, quirk);
      if (diagnostics.length) wrong.set(tool.name, [...(wrong.get(tool.name) ?? []), diagnostics[0]!.code]);
    }
    // One has the type `any`; the others have a whole schema where its properties belong: none is a JSON Schema.
    assert.deepEqual([...wrong.keys()].sort(), [
      'get_gem_reverse_dependencies',
      'get_gem_versions',
      'get_rubygem_info',
      'search_rubygems',
      'store_data',
    ]);
    assert.deepEqual([...new Set([...wrong.values()].flat())], ['tool-schema']);
  });
});
