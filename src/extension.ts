/** The extension: makes what features share and registers each of them. No logic of its own. */
import type * as vscode from 'vscode';
import { registerAuthoring } from './features/authoring';
import { Config } from './features/config';
import { registerDebug } from './features/debug';
import { registerEnvironments } from './features/environments';
import { EnvironmentStore } from './features/environments/store';
import { Errors } from './features/errors';
import { registerExamples } from './features/examples';
import { registerFidelity } from './features/fidelity';
import { AnswerDiffs } from './features/fidelity/diff';
import { createLog } from './features/log';
import { registerServer } from './features/server';
import type { Services } from './features/services';
import { registerSession } from './features/session';
import { registerSavedSessions } from './features/session/saved';
import { registerTesting } from './features/testing';
import { Results } from './features/testing/results';
import { registerTools } from './features/tools';
import { registerCallCommands } from './features/tools/call-commands';
import { registerCallLenses } from './features/tools/lenses';
import { registerTraining } from './features/training';

export function activate(context: vscode.ExtensionContext): void {
  const log = createLog(context);
  const config = new Config();
  const errors = new Errors(log);
  const showError = (error: unknown) => errors.show(error);
  const environments = new EnvironmentStore();
  const results = new Results(context.workspaceState);
  const diffs = new AnswerDiffs();
  context.subscriptions.push(environments, diffs);

  const server = registerServer({ context, config, log, showError });
  const services: Services = {
    context,
    log,
    settings: config,
    server,
    environments,
    diffs,
    tools: registerTools({ context, config, environments, showError }),
    showError,
    runErrorAction: (id) => errors.run(id),
  };
  registerAuthoring(context, environments, results);
  registerExamples(context, showError);
  registerCallCommands(services);
  registerCallLenses(context, environments);
  const session = registerSession(services);
  registerDebug(services, session);
  registerEnvironments(services, environments, results, session);
  registerSavedSessions(services, session, results);
  registerFidelity(services, environments, session);
  registerTraining({ services, config, environments, session });
  registerTesting({ services, config, environments, results, session });
}
