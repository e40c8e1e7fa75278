/** The breakpoints of a debug session: on tools, on lines of the environment file, on outputs of the transcript. */
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { NO_FILTERS } from '../../core/rehearsal/breakpoints';
import type { TranscriptDocument } from '../../core/rehearsal/document';
import { outputKey } from '../../core/rehearsal/view';
import type { LiveSession } from '../session/live';
import { exceptionFilters, watchOf } from './filters';
import type { EnvironmentLines } from './host';

interface InTranscript {
  id: number;
  turn: number;
  call: number | null;
  /** Zero-based. */
  line: number;
}

/** Lines are zero-based; the adapter converts them. */
export class Breakpoints {
  private tools: readonly string[] = [];
  private toolsOfLines: readonly string[] = [];
  private tasks: readonly string[] = [];
  private transcript: InTranscript[] = [];
  private exceptions = { ...NO_FILTERS };
  private lastId = 0;

  constructor(
    private readonly live: LiveSession,
    private readonly lines: EnvironmentLines,
    private readonly document: () => TranscriptDocument,
    private readonly transcriptPath: string,
    /** Without debugging nothing stops the run. */
    private readonly isEnabled: boolean,
  ) {}

  /** Whether the session is to stop at the start of this task. */
  atTask(id: string): boolean {
    return this.tasks.includes(id);
  }

  setTools(names: readonly string[]): P.Breakpoint[] {
    const known = this.live.session.setup.environment.tools.map((tool) => tool.name);
    this.tools = names;
    this.update();
    return names.map((name) =>
      known.includes(name)
        ? { verified: true }
        : {
            verified: false,
            message: `The environment has no tool called ${name}. It has: ${known.join(', ')}.`,
          },
    );
  }

  setExceptions(args: P.SetExceptionBreakpointsArguments): P.Breakpoint[] {
    const { filters, breakpoints } = exceptionFilters(args);
    this.exceptions = { ...NO_FILTERS, ...filters };
    this.update();
    return breakpoints;
  }

  setLines(path: string, lines: readonly number[]): P.Breakpoint[] {
    if (path === this.transcriptPath) return this.setTranscript(lines);
    if (path !== this.live.environmentFile) return lines.map((line) => ({ verified: false, line }));
    const found = lines.map((line) => ({ line, target: this.targetAt(line) }));
    this.toolsOfLines = found.flatMap(({ target }) => (target?.kind === 'tool' ? [target.name] : []));
    this.tasks = found.flatMap(({ target }) => (target?.kind === 'task' ? [target.name] : []));
    this.update();
    return found.map(({ line, target }) =>
      target
        ? { verified: true, line: target.line }
        : {
            verified: false,
            line,
            message: 'Set it on a tool, to stop before its observation, or on a task.',
          },
    );
  }

  /** The tool or task that a line of the environment file belongs to: the last one that begins at or before it. */
  private targetAt(line: number): { kind: 'tool' | 'task'; name: string; line: number } | null {
    const all = [
      ...[...this.lines.tools].map(([name, at]) => ({ kind: 'tool' as const, name, line: at })),
      ...[...this.lines.tasks].map(([name, at]) => ({ kind: 'task' as const, name, line: at })),
    ];
    return all.filter((one) => one.line <= line).sort((a, b) => b.line - a.line)[0] ?? null;
  }

  private setTranscript(lines: readonly number[]): P.Breakpoint[] {
    const { outputs } = this.document();
    const set = lines.map((line) => {
      const output = outputs.filter((place) => place.line <= line).pop();
      return output
        ? { id: ++this.lastId, turn: output.turn, call: output.call, line: output.line }
        : { line };
    });
    this.transcript = set.flatMap((one) => ('id' in one ? [one as InTranscript] : []));
    this.update();
    return set.map((one) =>
      'id' in one
        ? { verified: true, id: one.id, line: one.line }
        : { verified: false, line: one.line, message: 'Set it on an output of a turn.' },
    );
  }

  /** Breakpoints of the transcript whose output stands at another line now: they belong to the output. */
  moved(): P.Breakpoint[] {
    if (this.transcript.length === 0) return [];
    const { outputs } = this.document();
    return this.transcript.flatMap((one) => {
      const place = outputs.find(({ turn, call }) => turn === one.turn && call === one.call);
      if (!place || place.line === one.line) return [];
      one.line = place.line;
      return [{ id: one.id, verified: true, line: one.line }];
    });
  }

  private update(): void {
    if (!this.isEnabled) return;
    this.live.looksAtReal = this.exceptions.differsFromReal;
    this.live.watch = watchOf({
      tools: new Set([...this.tools, ...this.toolsOfLines]),
      filters: this.exceptions,
      outputs: new Set(this.transcript.map(({ turn, call }) => outputKey(turn, call))),
    });
  }
}
