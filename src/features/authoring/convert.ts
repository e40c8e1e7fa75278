/** From the types of `vscode-json-languageservice` (the language server protocol's) to those of VS Code. */
import * as vscode from 'vscode';
import type * as lsp from 'vscode-json-languageservice';

/** The one command that a completion may bring along. */
const SUGGEST = 'editor.action.triggerSuggest';

function toRange({ start, end }: lsp.Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

export function toTextEdit(edit: lsp.TextEdit): vscode.TextEdit {
  return vscode.TextEdit.replace(toRange(edit.range), edit.newText);
}

export function toDiagnostic(found: lsp.Diagnostic): vscode.Diagnostic {
  // The protocol counts severities from 1, VS Code from 0, in the same order.
  const severity = (found.severity ?? 1) - 1;
  return new vscode.Diagnostic(toRange(found.range), textOf(found.message), severity);
}

function textOf(content: string | lsp.MarkupContent): string {
  return typeof content === 'string' ? content : content.value;
}

export function toCompletion(item: lsp.CompletionItem): vscode.CompletionItem {
  // Kinds count from 1 in the protocol and from 0 in VS Code.
  const kind = item.kind === undefined ? undefined : item.kind - 1;
  const completion = new vscode.CompletionItem(item.label, kind);
  if (item.detail !== undefined) completion.detail = item.detail;
  if (item.documentation !== undefined) completion.documentation = toMarkdown(item.documentation);
  if (item.sortText !== undefined) completion.sortText = item.sortText;
  if (item.filterText !== undefined) completion.filterText = item.filterText;
  const edit = item.textEdit;
  const text = edit?.newText ?? item.insertText ?? item.label;
  completion.insertText = item.insertTextFormat === 2 ? new vscode.SnippetString(text) : text;
  // A field whose value is one of several things: these are offered at once, as in VS Code's own JSON.
  if (item.command?.command === SUGGEST) completion.command = { title: item.command.title, command: SUGGEST };
  if (edit) {
    completion.range =
      'range' in edit
        ? toRange(edit.range)
        : { inserting: toRange(edit.insert), replacing: toRange(edit.replace) };
  }
  return completion;
}

export function toHover(hover: lsp.Hover): vscode.Hover {
  const contents = Array.isArray(hover.contents) ? hover.contents : [hover.contents];
  return new vscode.Hover(contents.map(toMarkdown), hover.range && toRange(hover.range));
}

/** Commands and HTML stay off, as they are by default: the text may come from a file of someone else. */
function toMarkdown(content: lsp.MarkupContent | lsp.MarkedString): vscode.MarkdownString {
  if (typeof content === 'string') return new vscode.MarkdownString(content);
  if ('language' in content)
    return new vscode.MarkdownString().appendCodeblock(content.value, content.language);
  return content.kind === 'markdown'
    ? new vscode.MarkdownString(content.value)
    : new vscode.MarkdownString().appendText(content.value);
}

export function toSymbol(symbol: lsp.DocumentSymbol): vscode.DocumentSymbol {
  const made = new vscode.DocumentSymbol(
    symbol.name || '""',
    symbol.detail ?? '',
    symbol.kind - 1,
    toRange(symbol.range),
    toRange(symbol.selectionRange),
  );
  made.children = (symbol.children ?? []).map(toSymbol);
  return made;
}

export function toFoldingRange(range: lsp.FoldingRange): vscode.FoldingRange {
  const kind = range.kind === 'comment' ? vscode.FoldingRangeKind.Comment : undefined;
  return new vscode.FoldingRange(range.startLine, range.endLine, kind);
}

export function toSelectionRange(range: lsp.SelectionRange): vscode.SelectionRange {
  return new vscode.SelectionRange(toRange(range.range), range.parent && toSelectionRange(range.parent));
}
