/** Calls of real tools with their answers, from public data. */
import { isErrorValue } from '../../../../src/core/conversation/result';
import type { Answer } from '../../../../src/core/fidelity/types';
import type { Json, JsonObject } from '../../../../src/core/json';
import { sharedLines, sharedText } from '../../shared-data';

export interface RealCall {
  tool: string;
  arguments: JsonObject;
  real: Answer;
}

interface TauCall {
  name: string;
  arguments: JsonObject;
  content: string;
  error: boolean;
}

const tauCall = ({ name, arguments: args, content, error }: TauCall): RealCall => ({
  tool: name,
  arguments: args,
  real: { outcome: error ? 'error' : 'result', value: content },
});

export function tauExecutions(context: Mocha.Context): RealCall[] {
  const lines = sharedLines(context, 'data/tau2/retail_gold_executions.jsonl') as { calls: TauCall[] }[];
  return lines.flatMap(({ calls }) => calls.map(tauCall));
}

export function tauProbes(context: Mocha.Context): RealCall[] {
  const { probes } = JSON.parse(sharedText(context, 'data/tau2/retail_error_probes.json')) as {
    probes: TauCall[];
  };
  return probes.map(tauCall);
}

export function bfclExecutions(context: Mocha.Context): RealCall[] {
  type Line = { turns: { call: string; result: string }[][] };
  const lines = sharedLines(context, 'data/bfcl/bfcl_multi_turn_base_gold_executions.jsonl') as Line[];
  return lines.flatMap(({ turns }) =>
    turns.flat().map(({ call, result }): RealCall => {
      const value = parsed(result);
      return {
        tool: call.split('(')[0]!,
        arguments: { call },
        real: { outcome: isErrorValue(value) ? 'error' : 'result', value: result },
      };
    }),
  );
}

export function mcpCalls(context: Mocha.Context): RealCall[] {
  type Call = {
    name: string;
    arguments: JsonObject;
    result: { content: Json; structuredContent?: Json; isError?: boolean };
  };
  return ['filesystem', 'memory'].flatMap((server) => {
    const { calls } = JSON.parse(sharedText(context, `data/mcp/mcp_calls_${server}.json`)) as {
      calls: Call[];
    };
    return calls.map(({ name, arguments: args, result }): RealCall => {
      const value = result.structuredContent ?? result.content;
      return { tool: name, arguments: args, real: { outcome: result.isError ? 'error' : 'result', value } };
    });
  });
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
