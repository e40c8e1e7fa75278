/** An environment as it was read: what core made of it, and where its parts stand in which file. */
import path from 'node:path';
import * as vscode from 'vscode';
import { TextDocument } from 'vscode-json-languageservice';
import type { Diagnostic, Locations, Place } from '../../core/environment/diagnostics';
import { loadEnvironment } from '../../core/environment/load';
import type { Environment } from '../../core/environment/types';
import { reasonOf } from '../../core/user-error';
import { stateBeside } from '../../node/tools/places';
import type { LoadedEnvironment } from '../services';

/** Text of an absolute path as the person sees it; rejects with the reason where there is none. */
export type ReadText = (file: string) => Promise<string>;

export class Loaded implements LoadedEnvironment {
  readonly environment: Environment | null;
  readonly diagnostics: Diagnostic[];

  private constructor(
    /** Absolute path of the environment file. */
    readonly file: string,
    loaded: { environment: Environment | null; diagnostics: Diagnostic[] },
    private readonly locations: Locations,
    /** Texts that were read, by absolute path. */
    private readonly texts: ReadonlyMap<string, TextDocument>,
  ) {
    this.environment = loaded.environment;
    this.diagnostics = loaded.diagnostics;
  }

  /** Never rejects: whatever is wrong is a diagnostic. `sources` is told each file that matters, first of all. */
  static async from(file: string, readText: ReadText, sources: Set<string>): Promise<Loaded> {
    const texts = new Map<string, TextDocument>();
    const read = async (from: string) => {
      sources.add(from);
      const text = await readText(from);
      texts.set(from, TextDocument.create(from, 'json', 0, text));
      return text;
    };
    try {
      const loaded = await loadEnvironment(await read(file), {
        path: file,
        read: (name) => read(path.resolve(path.dirname(file), name)),
        state: (name) => {
          sources.add(path.resolve(path.dirname(file), name));
          return stateBeside(path.dirname(file), name);
        },
      });
      return new Loaded(file, loaded, loaded.locations, texts);
    } catch (error) {
      const message = `The file cannot be read: ${reasonOf(error)}.`;
      const diagnostics: Diagnostic[] = [{ severity: 'error', code: 'file', message, offset: 0, length: 0 }];
      const nowhere = { tools: new Map(), tasks: new Map(), checks: new Map(), examples: [] };
      return new Loaded(file, { environment: null, diagnostics }, nowhere, texts);
    }
  }

  lineOfTool(name: string): number | undefined {
    return this.ownLine(this.locations.tools.get(name));
  }

  lineOfTask(id: string): number | undefined {
    return this.ownLine(this.locations.tasks.get(id));
  }

  tool(name: string): vscode.Location {
    return this.location(this.locations.tools.get(name));
  }

  task(id: string): vscode.Location {
    return this.location(this.locations.tasks.get(id));
  }

  /** Of a recorded call by its index; undefined where its place is not known. */
  example(index: number): vscode.Location | undefined {
    const place = this.locations.examples[index];
    return place && this.location(place);
  }

  check(task: string, index: number): vscode.Location {
    return this.location(this.locations.checks.get(task)?.[index] ?? this.locations.tasks.get(task));
  }

  /** Of a place in one of the files; the start of the environment file where it is not known. */
  location(place: Place | undefined): vscode.Location {
    const file = place?.file ? path.resolve(path.dirname(this.file), place.file) : this.file;
    const text = this.texts.get(file);
    if (!place || !text) return new vscode.Location(vscode.Uri.file(file), new vscode.Position(0, 0));
    const start = text.positionAt(place.offset);
    const end = text.positionAt(place.offset + place.length);
    const range = new vscode.Range(start.line, start.character, end.line, end.character);
    return new vscode.Location(vscode.Uri.file(file), range);
  }

  private ownLine(place: Place | undefined): number | undefined {
    if (!place || place.file) return undefined;
    return this.texts.get(this.file)?.positionAt(place.offset).line;
  }
}
