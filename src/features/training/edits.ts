/**
 * Changes of a training file as edits of its text: whatever else stands there, comments included, stays as the
 * person wrote it. Knows no VS Code.
 */
import { type Edit, findNodeAtLocation, getLocation, modify, type Node, parseTree } from 'jsonc-parser';

const PARSE = { allowTrailingComma: true };

/** A value at a path; `undefined` takes it out, and a group that is empty then goes with it. */
export function setValue(text: string, path: readonly string[], value: unknown): Edit[] {
  const root = parseTree(text, [], PARSE);
  if (!root || !canHold(root, path)) return [];
  if (value !== undefined) return modify(text, [...path], value, options(text));
  let at = [...path];
  if (!findNodeAtLocation(root, at)) return [];
  while (at.length > 1 && findNodeAtLocation(root, at.slice(0, -1))?.children?.length === 1)
    at = at.slice(0, -1);
  return modify(text, at, undefined, options(text));
}

/** A task goes into a part, at its end, or out of it. Where the part names a file, nothing changes. */
export function setTask(text: string, part: string, task: string, isIn: boolean): Edit[] {
  const root = parseTree(text, [], PARSE);
  const path = ['tasks', part];
  if (!root || !canHold(root, path)) return [];
  const list = findNodeAtLocation(root, path);
  if (list && list.type !== 'array') return [];
  const at = indexOf(list, task);
  if (isIn === at >= 0) return [];
  if (!list) return modify(text, path, [task], options(text));
  if (!isIn) return modify(text, [...path, at], undefined, options(text));
  return modify(text, [...path, list.children?.length ?? 0], task, {
    ...options(text),
    isArrayInsertion: true,
  });
}

/** The file's own path of what stands at an offset: field names, without indexes of lists. */
export function pathAt(text: string, offset: number): string[] {
  const path: string[] = [];
  for (const part of getLocation(text, offset).path) {
    if (typeof part === 'number') break;
    path.push(part);
  }
  return path.filter((part) => part !== '');
}

/** Where something else stands than the groups of a path, that has to be corrected first. */
function canHold(root: Node, path: readonly string[]): boolean {
  return path.every((_, length) => {
    const group = findNodeAtLocation(root, path.slice(0, length));
    return !group || group.type === 'object';
  });
}

function indexOf(list: Node | undefined, task: string): number {
  return list?.children?.findIndex((node) => node.type === 'string' && node.value === task) ?? -1;
}

/** As the file is written already. */
function options(text: string) {
  const indent = /^(\t| +)\S/m.exec(text)?.[1] ?? '  ';
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return {
    formattingOptions: { insertSpaces: indent !== '\t', tabSize: indent === '\t' ? 1 : indent.length, eol },
  };
}
