/** What is wrong with an environment, where, and what to do about it. */

export type Severity = 'error' | 'warning' | 'information';

/** A stretch of one of the environment's files. */
export interface Place {
  /** Relative name; absent means the environment file itself. */
  file?: string;
  /** In UTF-16 code units. */
  offset: number;
  length: number;
}

export interface Diagnostic extends Place {
  severity: Severity;
  /** Stable name of the problem. */
  code: string;
  /** What is wrong and what follows from it. */
  message: string;
  /** What to do next. */
  next?: string;
}

/** Where things stand, for test messages, breakpoints and lenses. */
export interface Locations {
  /** By tool name. */
  tools: Map<string, Place>;
  /** By task id. */
  tasks: Map<string, Place>;
  /** By task id; in the order of the task's checks. */
  checks: Map<string, Place[]>;
  /** In the order of the environment's examples. */
  examples: Place[];
}

export class Report {
  readonly diagnostics: Diagnostic[] = [];

  error(place: Place, code: string, message: string, next?: string): void {
    this.add('error', place, code, message, next);
  }

  warning(place: Place, code: string, message: string, next?: string): void {
    this.add('warning', place, code, message, next);
  }

  information(place: Place, code: string, message: string, next?: string): void {
    this.add('information', place, code, message, next);
  }

  private add(
    severity: Severity,
    { file, offset, length }: Place,
    code: string,
    message: string,
    next?: string,
  ): void {
    this.diagnostics.push({
      severity,
      code,
      message,
      ...(next ? { next } : {}),
      ...(file ? { file } : {}),
      offset,
      length,
    });
  }
}

/** Names of tools as the next step of a message about one that is not there. */
export function toolNames(names: Iterable<string>): string {
  const all = [...names];
  const shown = all.slice(0, 12).join(', ') || 'none';
  return `Tools are: ${shown}${all.length > 12 ? `, and ${all.length - 12} more` : ''}.`;
}
