/** What a person is asked before something runs for real. Knows no VS Code. */
import { printable } from '../../core/text';
import type { Identity, ToolCall } from '../../node/tools';
import type { Missing } from '../../node/tools/consent';

export interface Question {
  /** Name of the environment whose tools they are. */
  environment: string;
  identity: Identity;
  missing: Missing;
  /** What is going to be called, where that is known. */
  call?: ToolCall;
}

/** Arguments beyond this are cut: a dialog has to keep its buttons on the screen. */
const MAX_ARGUMENTS = 1200;
const MAX_TOOLS = 30;

export function questionText({ environment, identity, missing, call }: Question): {
  message: string;
  detail: string;
} {
  const { tools } = missing;
  const [only] = tools;
  const name = printable(environment);
  const message =
    identity.kind === 'check'
      ? 'Run the program of a check?'
      : call
        ? `Execute ${printable(call.tool)} for real?`
        : tools.length > 1
          ? `Execute ${tools.length} tools of ${name} for real?`
          : only !== undefined
            ? `Execute ${printable(only)} for real?`
            : `Use the real tools of ${name}?`;
  const paragraphs = [
    whatRuns(identity),
    call && callText(call),
    identity.kind !== 'check' && tools.length > 0 && mayChange(tools, call),
    'It is remembered for this workspace, until what runs changes. "Rehearsal: Manage Consents to Real Tools…" takes it back.',
  ];
  return { message, detail: paragraphs.filter(Boolean).join('\n\n') };
}

/** "Runs python3 tools.py" and the folder, or the address. */
function whatRuns({ kind, what, folder }: Identity): string {
  const where = folder ? `\nin ${printable(folder)}` : '';
  const text = printable(what);
  if (kind === 'module') return `This runs the JavaScript module ${text}${where}`;
  if (kind === 'replay') return `This reads the recorded calls of ${text}${where}`;
  if (kind === 'vscode') return `This calls ${text}.`;
  if (/^https?:\/\//.test(what)) return `This sends requests to ${text}`;
  return `This runs the program ${text}${where}`;
}

function callText({ tool, arguments: given }: ToolCall): string {
  const text = `${tool}(${JSON.stringify(given, null, 2)})`;
  const shown =
    text.length > MAX_ARGUMENTS ? `${text.slice(0, MAX_ARGUMENTS)}… (${text.length} characters)` : text;
  return printable(shown);
}

function mayChange(tools: readonly string[], call?: ToolCall): string {
  if (call && tools.length === 1) return 'It is not declared to be read-only: it may change something.';
  const shown = tools.slice(0, MAX_TOOLS).map((tool) => `• ${printable(tool)}`);
  const rest = tools.length > MAX_TOOLS ? [`and ${tools.length - MAX_TOOLS} more`] : [];
  return ['Not declared to be read-only, so they may change something:', ...shown, ...rest].join('\n');
}
