/** Launch configurations: fills in what a person left out, and asks only where it cannot tell. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { Environment } from '../../core/environment/types';
import { UserError } from '../../core/user-error';
import { isEnvironment } from '../environments/store';
import { usable } from '../environments/usable';
import { Command, DEBUG_TYPE } from '../ids';
import type { Services } from '../services';

const LAST_TASK = 'rehearsal.lastTask';

export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(private readonly services: Services) {}

  /** F5 without a launch.json: the environment in the active editor. */
  resolveDebugConfiguration(
    _folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): vscode.DebugConfiguration {
    const document = vscode.window.activeTextEditor?.document;
    const program = document && isEnvironment(document) ? document.uri.fsPath : undefined;
    const { type = DEBUG_TYPE, request = 'launch', name = 'Rehearse' } = configuration;
    return {
      ...(program && !configuration.session && { program }),
      // The console would take a third of the window for what the panel shows.
      internalConsoleOptions: 'neverOpen',
      ...configuration,
      type: type || DEBUG_TYPE,
      request: request || 'launch',
      name: name || 'Rehearse',
    };
  }

  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (configuration.session) return configuration;
    try {
      const program = await this.program(folder, configuration.program);
      if (!program) return undefined;
      const environment = usable(await this.services.environments.load(program));
      const task = await this.task(environment, program, configuration.task);
      if (!task) return undefined;
      return { ...configuration, name: configuration.name || `Rehearse ${task}`, program, task };
    } catch (error) {
      this.services.showError(error);
      return undefined;
    }
  }

  /** One configuration for each task of the workspace, for the Run and Debug view's list. */
  async provideDebugConfigurations(): Promise<vscode.DebugConfiguration[]> {
    const { environments } = this.services;
    const loaded = await Promise.all((await environments.files()).map((file) => environments.load(file)));
    return loaded.flatMap(({ file, environment }) =>
      (environment?.tasks ?? []).map(({ id }) => ({
        type: DEBUG_TYPE,
        request: 'launch',
        name: `Rehearse ${id} (${path.basename(file)})`,
        program: file,
        task: id,
      })),
    );
  }

  private async program(
    folder: vscode.WorkspaceFolder | undefined,
    given: unknown,
  ): Promise<string | undefined> {
    if (typeof given === 'string' && given) {
      return path.isAbsolute(given) || !folder ? given : path.join(folder.uri.fsPath, given);
    }
    const files = await this.services.environments.files();
    if (files.length === 0) {
      throw new UserError(
        'This workspace has no environment file (*.rehearsal.json).',
        'Open the examples to begin with.',
        {
          title: 'Open Examples…',
          id: Command.openExamples,
        },
      );
    }
    if (files.length === 1) return files[0];
    const items = files.map((file) => ({
      label: path.basename(file),
      description: vscode.workspace.asRelativePath(path.dirname(file)),
      file,
    }));
    const picked = await vscode.window.showQuickPick(items, {
      title: 'Start Rehearsal Session',
      placeHolder: 'Which environment?',
      ignoreFocusOut: true,
    });
    return picked?.file;
  }

  private async task(environment: Environment, file: string, given: unknown): Promise<string | undefined> {
    const { tasks } = environment;
    if (typeof given === 'string' && given) return given;
    if (tasks.length === 0) {
      throw new UserError(
        `${environment.name} has no tasks.`,
        'Add one to the file; completion helps inside of "tasks".',
      );
    }
    if (tasks.length === 1) return tasks[0]!.id;
    const state = this.services.context.workspaceState;
    const last = state.get<string>(`${LAST_TASK}:${file}`);
    // The one chosen last comes first, so that starting it again is one key.
    const sorted = [...tasks].sort((a, b) => Number(b.id === last) - Number(a.id === last));
    const items = sorted.map(({ id, instruction }) => ({
      label: id,
      detail: instruction.replace(/\s+/g, ' '),
    }));
    const picked = await vscode.window.showQuickPick(items, {
      title: `Start Rehearsal Session: ${environment.name}`,
      placeHolder: 'Which task?',
      matchOnDetail: true,
      ignoreFocusOut: true,
    });
    if (picked) await state.update(`${LAST_TASK}:${file}`, picked.label);
    return picked?.label;
  }
}
