/** What MCP servers answer, in our terms. */
import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/client';
import { compileSchema } from '../../../core/environment/json-schema';
import type { Tool } from '../../../core/environment/types';
import { isObject, type Json, type JsonObject } from '../../../core/json';
import { type Answered, answered, valueOfText } from '../calls';

/**
 * `structuredContent` where there is some (there is none on errors), else the text, as JSON where it is JSON. An
 * error of the tool, an unknown tool and bad arguments all arrive as results with `isError`.
 */
export function answerOfResult(result: CallToolResult): Answered {
  const raw = JSON.stringify(result);
  const { structuredContent, isError = false } = result;
  const content = (result.content ?? []) as unknown as Json[];
  const structured = structuredContent as Json | undefined;
  const value = structured !== undefined && !isError ? structured : contentValue(content);
  return answered(isError ? errorValue(value) : value, { error: isError, raw });
}

function contentValue(content: Json[]): Json {
  const texts = content.map((part) =>
    isObject(part) && part.type === 'text' ? (part.text as string) : null,
  );
  // Images and resources are kept as they came.
  if (texts.some((text) => text === null)) return content;
  return valueOfText(texts.join('\n'));
}

function errorValue(value: Json): Json {
  return isObject(value) && Object.hasOwn(value, 'error') ? value : { error: value };
}

export function toolOf({ name, description = '', inputSchema, annotations }: McpTool): Tool {
  const parameters = inputSchema as unknown as JsonObject;
  const compiled = compileSchema(parameters);
  const hint = annotations?.readOnlyHint === true;
  return {
    name,
    description,
    parameters,
    readOnly: hint,
    ...(hint ? { hinted: true } : {}),
    ...(compiled.ok ? {} : { problem: compiled.problem }),
  };
}
