/** The requests of a debug adapter that only look: breakpoints, stack, variables, expressions. */
import { DebugSession } from '@vscode/debugadapter';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { printable } from '../../core/text';
import { failureOf } from '../session/failure';
import type { Breakpoints } from './breakpoints';
import { ExpressionError } from './evaluate';
import type { Inspector } from './inspector';

export abstract class InspectingDebugSession extends DebugSession {
  /** Both are there once the launch has succeeded; nothing of this is asked before. */
  protected breakpoints: Breakpoints | undefined;
  protected inspector: Inspector | undefined;
  private readonly questions = new Set<AbortController>();

  constructor() {
    super();
    this.setDebuggerLinesStartAt1(false);
    this.setDebuggerColumnsStartAt1(false);
  }

  // Breakpoints

  protected override setBreakPointsRequest(
    response: P.SetBreakpointsResponse,
    args: P.SetBreakpointsArguments,
  ): void {
    const lines = (args.breakpoints ?? []).map(({ line }) => this.convertClientLineToDebugger(line));
    const set = this.breakpoints!.setLines(args.source.path ?? '', lines);
    response.body = { breakpoints: set.map((found) => this.withClientLine(found)) };
    this.sendResponse(response);
  }

  protected override setFunctionBreakPointsRequest(
    response: P.SetFunctionBreakpointsResponse,
    args: P.SetFunctionBreakpointsArguments,
  ): void {
    response.body = { breakpoints: this.breakpoints!.setTools(args.breakpoints.map(({ name }) => name)) };
    this.sendResponse(response);
  }

  protected override setExceptionBreakPointsRequest(
    response: P.SetExceptionBreakpointsResponse,
    args: P.SetExceptionBreakpointsArguments,
  ): void {
    response.body = { breakpoints: this.breakpoints!.setExceptions(args) };
    this.sendResponse(response);
  }

  protected withClientLine(found: P.Breakpoint): P.Breakpoint {
    return found.line === undefined
      ? found
      : { ...found, line: this.convertDebuggerLineToClient(found.line) };
  }

  // Looking around

  protected override stackTraceRequest(response: P.StackTraceResponse): void {
    const stackFrames = this.inspector!.frames().map((frame) => ({
      ...frame,
      line: this.convertDebuggerLineToClient(frame.line),
      column: this.convertDebuggerColumnToClient(frame.column),
      endLine: this.convertDebuggerLineToClient(frame.endLine!),
      endColumn: this.convertDebuggerColumnToClient(frame.endColumn!),
    }));
    response.body = { stackFrames, totalFrames: stackFrames.length };
    this.sendResponse(response);
    this.stackShown();
  }

  /** The client has been given the stack. */
  protected abstract stackShown(): void;

  protected override scopesRequest(response: P.ScopesResponse, { frameId }: P.ScopesArguments): void {
    response.body = { scopes: this.inspector!.scopes(frameId) };
    this.sendResponse(response);
  }

  protected override variablesRequest(response: P.VariablesResponse, args: P.VariablesArguments): void {
    response.body = { variables: this.inspector!.variables(args.variablesReference) };
    this.sendResponse(response);
  }

  protected override async evaluateRequest(
    response: P.EvaluateResponse,
    args: P.EvaluateArguments,
  ): Promise<void> {
    const question = new AbortController();
    this.questions.add(question);
    try {
      // Watches and hovers are evaluated by the client on its own: they must never cost a token.
      response.body = await this.inspector!.evaluate(
        args.expression,
        args.context === 'repl',
        question.signal,
      );
      this.sendResponse(response);
    } catch (error) {
      const known = error instanceof ExpressionError ? error : failureOf(error);
      const next = 'next' in known ? ` ${known.next}` : '';
      this.refuse(response, `${known.message}${next}`);
    } finally {
      this.questions.delete(question);
    }
  }

  protected override completionsRequest(response: P.CompletionsResponse): void {
    response.body = { targets: this.inspector!.completions() };
    this.sendResponse(response);
  }

  /** Ends what the console has asked and not been answered yet. */
  protected stopAsking(): void {
    for (const question of this.questions) question.abort();
  }

  /** Answers with an error that the client shows in place, not as a message of its own. */
  protected refuse(response: P.Response, text: string): void {
    this.sendErrorResponse(response, {
      id: 1,
      format: '{_text}',
      variables: { _text: printable(text) },
      showUser: false,
    });
  }
}
