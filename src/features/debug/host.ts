/** What the debug adapter needs of the editor around it; the adapter itself knows no VS Code. */
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { TranscriptDocument } from '../../core/rehearsal/document';
import type { ObservationsFrom } from '../../core/rehearsal/types';
import type { LiveSession } from '../session/live';

/** Attributes of a launch configuration; package.json describes them to people. */
export interface LaunchArguments extends P.LaunchRequestArguments {
  program?: string;
  task?: string;
  model?: string;
  session?: string;
  seed?: number;
  temperature?: number;
  /** Who answers the calls. */
  observations?: ObservationsFrom;
  stopOnEntry?: boolean;
}

/** Zero-based lines of an environment file. */
export interface EnvironmentLines {
  tools: Map<string, number>;
  tasks: Map<string, number>;
}

export interface AdapterHost {
  /** The session that a launch asks for, shown to the person. Throws `UserError`. */
  open(args: LaunchArguments): Promise<LiveSession>;
  /** Tells the person about an error that ends the launch. */
  showError(error: unknown): void;
  /** The environment file's lines, or none where it cannot be read any more. */
  lines(environmentFile: string): Promise<EnvironmentLines>;
  transcript: {
    /** Path of the document as the client opens it. */
    path(live: LiveSession): string;
    document(live: LiveSession): TranscriptDocument;
    /** Resolves when an open editor shows the document as it is now. */
    synced(live: LiveSession): Promise<void>;
  };
  /** Breakpoints are set: from now on the adapter reports whatever the session does. */
  followed(live: LiveSession): void;
  /**
   * Has the client show the top of the stack, which it does not do by itself where it was to leave the keyboard.
   * Answers whether it does now; before it has taken the stack in, it cannot.
   */
  showTop(): Promise<boolean>;
  /** The adapter follows this session no more. */
  left(live: LiveSession): void;
}
