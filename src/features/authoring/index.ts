/** Writing environments: the two languages, their diagnostics, and the lenses over tasks. Works untrusted too. */
import * as vscode from 'vscode';
import type { JSONSchema } from 'vscode-json-languageservice';
import { publishedSchema } from '../../core/environment/schema';
import { publishedTrainingSchema } from '../../core/training/schema';
import type { EnvironmentStore } from '../environments/store';
import { Language } from '../ids';
import type { Results } from '../testing/results';
import { EnvironmentDiagnostics } from './diagnostics';
import { JsonSupport } from './json';
import { TaskLenses } from './lenses';
import { JsonDocuments, registerProviders } from './providers';

export function registerAuthoring(
  context: vscode.ExtensionContext,
  environments: EnvironmentStore,
  results: Results,
): void {
  const environment = new JsonDocuments(new JsonSupport(publishedSchema() as JSONSchema));
  const training = new JsonDocuments(new JsonSupport(publishedTrainingSchema() as JSONSchema));
  const lenses = new TaskLenses(environments, results);
  context.subscriptions.push(
    registerProviders(Language.environment, environment),
    registerProviders(Language.training, training),
    new EnvironmentDiagnostics(environments, environment),
    lenses,
    vscode.languages.registerCodeLensProvider({ language: Language.environment, scheme: 'file' }, lenses),
  );
}
