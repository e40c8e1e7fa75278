/** Asks for a call: which tool, and its arguments as JSON, with what is wrong with them said while they are typed. */
import * as vscode from 'vscode';
import type { Environment, Tool } from '../../core/environment/types';
import { formatJson, isObject, type JsonObject } from '../../core/json';
import { parseStrict } from '../../core/json-text';
import { printable } from '../../core/text';
import { UserError } from '../../core/user-error';
import { problemWith, sampleArguments } from './arguments';

export async function askTool({ name, tools }: Environment, title: string): Promise<Tool | undefined> {
  if (tools.length === 0) throw new UserError(`${name} has no tools.`, 'Add one to the environment file.');
  const picks = tools.map((tool) => ({
    label: printable(tool.name),
    description: tool.readOnly ? 'read-only' : '',
    detail: printable(tool.description).replace(/\s+/g, ' '),
    tool,
  }));
  return (
    await vscode.window.showQuickPick(picks, { title, placeHolder: 'Which tool?', matchOnDetail: true })
  )?.tool;
}

/** Undefined where the person left. Arguments that break the schema are warned of, and may be sent all the same. */
export async function askArguments(
  environment: Environment,
  tool: Tool,
  title: string,
): Promise<JsonObject | undefined> {
  const { Warning, Error: Wrong } = vscode.InputBoxValidationSeverity;
  const given = await vscode.window.showInputBox({
    title: `${title}: ${printable(tool.name)}`,
    prompt: 'Arguments as a JSON object. Enter makes the call.',
    value: formatJson(sampleArguments(environment, tool)),
    ignoreFocusOut: true,
    validateInput: (text) => {
      const problem = problemWith(text, tool);
      return problem && { message: printable(problem.message), severity: problem.stops ? Wrong : Warning };
    },
  });
  if (given === undefined) return undefined;
  const parsed = parseStrict(given);
  return parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
}
