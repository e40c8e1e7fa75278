/** The debugger: a debug session of type `rehearsal` for each live session. */
import * as vscode from 'vscode';
import { DEBUG_TYPE } from '../ids';
import type { Services } from '../services';
import type { SessionParts } from '../session';
import type { LiveSession } from '../session/live';
import type { Sessions } from '../session/sessions';
import { RehearsalDebugSession } from './adapter';
import { ConfigurationProvider } from './configuration';
import type { AdapterHost, EnvironmentLines, LaunchArguments } from './host';

export function registerDebug(services: Services, parts: SessionParts): void {
  const provider = new ConfigurationProvider(services);
  const { Dynamic } = vscode.DebugConfigurationProviderTriggerKind;
  services.context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, provider),
    vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, provider, Dynamic),
    vscode.debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, {
      createDebugAdapterDescriptor: (session) => {
        return new vscode.DebugAdapterInlineImplementation(
          new RehearsalDebugSession(hostOf(services, parts, session)),
        );
      },
    }),
  );
}

function hostOf(services: Services, parts: SessionParts, session: vscode.DebugSession): AdapterHost {
  const { sessions, transcripts } = parts;
  return {
    open: async (args) => {
      const live = await openOrCreate(sessions, args);
      parts.followers.set(live, session);
      await parts.reveal(live);
      return live;
    },
    followed: (live) => parts.followed(live),
    showTop: async () => {
      // Not `callStackTop`, which takes the keyboard. Where several are stopped it may take another, which is no harm.
      await vscode.commands.executeCommand('workbench.action.debug.focusProcess');
      const item = vscode.debug.activeStackItem;
      return item?.session.id === session.id && item instanceof vscode.DebugStackFrame;
    },
    left: (live) => parts.left(live),
    showError: (error) => services.showError(error),
    lines: (file) => linesOf(services, file),
    transcript: {
      path: (live) => transcripts.uri(live).toString(),
      document: (live) => transcripts.document(live),
      synced: (live) => transcripts.synced(live),
    },
  };
}

async function openOrCreate(sessions: Sessions, args: LaunchArguments): Promise<LiveSession> {
  if (args.session) return sessions.open(args.session);
  const { program = '', task = '', model, seed, temperature } = args;
  const observations = args.observations === 'real' ? 'real' : 'rehearse';
  return sessions.create({ file: program, task, model, seed, temperature, observations });
}

async function linesOf({ environments }: Services, file: string): Promise<EnvironmentLines> {
  const lines: EnvironmentLines = { tools: new Map(), tasks: new Map() };
  if (!file) return lines;
  const loaded = await environments.load(file);
  for (const { name } of loaded.environment?.tools ?? []) {
    const line = loaded.lineOfTool(name);
    if (line !== undefined) lines.tools.set(name, line);
  }
  for (const { id } of loaded.environment?.tasks ?? []) {
    const line = loaded.lineOfTask(id);
    if (line !== undefined) lines.tasks.set(id, line);
  }
  return lines;
}
