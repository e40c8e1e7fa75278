/**
 * The debug adapter: a live session in the terms of the Debug Adapter Protocol. It keeps no position; it
 * follows the events of the session, whoever moved it.
 */
import {
  BreakpointEvent,
  ContinuedEvent,
  InitializedEvent,
  OutputEvent,
  TerminatedEvent,
  Thread,
} from '@vscode/debugadapter';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { Gesture } from '../../core/rehearsal/drivers';
import { endView } from '../../core/rehearsal/view';
import { printable } from '../../core/text';
import { failureOf } from '../session/failure';
import type { LiveSession } from '../session/live';
import { turnStart } from '../session/places';
import type { Stop, Surface } from '../session/stops';
import { Breakpoints } from './breakpoints';
import { EXCEPTION_FILTERS } from './filters';
import type { AdapterHost, LaunchArguments } from './host';
import { InspectingDebugSession } from './inspecting';
import { Frame, Inspector } from './inspector';

const THREAD = 1;

export class RehearsalDebugSession extends InspectingDebugSession {
  /** The session followed; undefined before the launch. */
  live: LiveSession | undefined;
  private args: LaunchArguments = {};
  /** A request that implies running is being carried out, so no `continued` event is due. */
  private asked = false;
  private reportedEnd = -1;
  /** The client was asked to leave the keyboard where it is, and so does not show the new place by itself. */
  private leavesKeyboard = false;
  private over = false;

  constructor(private readonly host: AdapterHost) {
    super();
  }

  protected override initializeRequest(response: P.InitializeResponse): void {
    response.body = {
      supportsConfigurationDoneRequest: true,
      supportsEvaluateForHovers: true,
      supportsStepBack: true,
      supportsRestartRequest: true,
      supportsRestartFrame: true,
      supportsFunctionBreakpoints: true,
      supportsExceptionFilterOptions: true,
      supportsExceptionInfoRequest: true,
      supportsTerminateRequest: true,
      supportsCompletionsRequest: true,
      supportsClipboardContext: true,
      exceptionBreakpointFilters: EXCEPTION_FILTERS,
    };
    this.sendResponse(response);
  }

  protected override async launchRequest(response: P.LaunchResponse, args: LaunchArguments): Promise<void> {
    this.args = args;
    try {
      const live = await this.host.open(args);
      const lines = await this.host.lines(live.environmentFile);
      const { transcript } = this.host;
      this.breakpoints = new Breakpoints(
        live,
        lines,
        () => transcript.document(live),
        transcript.path(live),
        !args.noDebug,
      );
      this.inspector = new Inspector(live, lines, this.host);
      this.live = live;
      live.on('run', this.onRun);
      live.on('stop', this.onStop);
      live.on('close', this.onClose);
    } catch (error) {
      this.host.showError(error);
      // The error is shown with its button already; a second, modal one would only be in the way.
      this.refuse(response, failureOf(error).message);
      return;
    }
    this.sendResponse(response);
    // Only now are the tools known, which the breakpoints that follow are checked against.
    this.sendEvent(new InitializedEvent());
  }

  protected override configurationDoneRequest(response: P.ConfigurationDoneResponse): void {
    this.sendResponse(response);
    const live = this.live!;
    this.host.followed(live);
    if (live.status === 'running') return;
    const wanted = this.args.stopOnEntry !== false || this.breakpoints!.atTask(live.session.setup.task.id);
    // The panel has just been opened, with the keyboard in it.
    if (live.ended || (wanted && !this.args.noDebug)) void this.reportStop({ ...live.lastStop, by: 'panel' });
    else this.run('continue');
  }

  protected override threadsRequest(response: P.ThreadsResponse): void {
    const { task } = this.live!.session.setup;
    response.body = { threads: [new Thread(THREAD, printable(task.id))] };
    this.sendResponse(response);
  }

  // Gestures

  protected override stepInRequest(response: P.StepInResponse): void {
    this.sendResponse(response);
    this.run('token');
  }

  protected override nextRequest(response: P.NextResponse): void {
    this.sendResponse(response);
    this.run('output');
  }

  protected override stepOutRequest(response: P.StepOutResponse): void {
    this.sendResponse(response);
    this.run('turn');
  }

  protected override continueRequest(response: P.ContinueResponse): void {
    response.body = { allThreadsContinued: true };
    this.sendResponse(response);
    this.run('continue');
  }

  protected override pauseRequest(response: P.PauseResponse): void {
    this.sendResponse(response);
    void this.live!.pause();
  }

  protected override stepBackRequest(response: P.StepBackResponse): void {
    this.sendResponse(response);
    this.act((live) => live.back());
  }

  protected override reverseContinueRequest(response: P.ReverseContinueResponse): void {
    this.sendResponse(response);
    this.act((live) => live.reverseContinue());
  }

  protected override restartRequest(response: P.RestartResponse): void {
    this.sendResponse(response);
    this.act((live) => live.restart());
  }

  protected override restartFrameRequest(
    response: P.RestartFrameResponse,
    { frameId }: P.RestartFrameArguments,
  ): void {
    this.sendResponse(response);
    this.act(async (live) => {
      const { turn } = this.inspector!.focus;
      if (frameId === Frame.task || !turn) return live.restart();
      const begins = frameId === Frame.turn ? turnStart(live.session, turn.index) : undefined;
      return live.restartOutput(begins ?? live.session.cursor.id);
    });
  }

  private run(gesture: Gesture): void {
    this.act((live) => live.step(gesture));
  }

  private act(change: (live: LiveSession) => Promise<void>): void {
    this.asked = true;
    change(this.live!)
      .catch((error) => this.console(`${failureOf(error).message}\n`, 'stderr'))
      .finally(() => {
        this.asked = false;
      });
  }

  // Events of the session

  private readonly onRun = (by: Surface): void => {
    if (!this.asked || by === 'panel') this.sendEvent(new ContinuedEvent(THREAD));
  };

  private readonly onStop = (stop: Stop): void => {
    void this.reportStop(stop);
  };

  private readonly onClose = (): void => this.end();

  private async reportStop(stop: Stop): Promise<void> {
    const live = this.live!;
    await this.host.transcript.synced(live);
    if (this.over) return;
    this.inspector!.moved();
    this.reportOutcome(stop);
    if (this.args.noDebug && (stop.kind === 'end' || stop.kind === 'failed')) return this.end();
    for (const changed of this.breakpoints!.moved()) {
      this.sendEvent(new BreakpointEvent('changed', this.withClientLine(changed)));
    }
    const isException = stop.kind === 'exception' || stop.kind === 'failed';
    const event: P.StoppedEvent = {
      seq: 0,
      type: 'event',
      event: 'stopped',
      body: {
        reason: isException ? 'exception' : stop.kind,
        description: printable(stop.text),
        threadId: THREAD,
        allThreadsStopped: true,
        ...(isException && { text: printable(this.exceptionText(stop)) }),
        ...(stop.by === 'panel' && { preserveFocusHint: true }),
      },
    };
    this.leavesKeyboard = stop.by === 'panel';
    this.sendEvent(event);
  }

  protected override stackShown(): void {
    if (!this.leavesKeyboard) return;
    // The client takes the answer in first; where it was another's question, it does so with a later one.
    setTimeout(async () => {
      if (this.leavesKeyboard && (await this.host.showTop())) this.leavesKeyboard = false;
    }, 0);
  }

  /** Once for each end and failure, in the console. */
  private reportOutcome(stop: Stop): void {
    const live = this.live!;
    if (stop.kind === 'failed') {
      this.console(`${live.failure!.message} ${live.failure!.next}\n`, 'stderr');
    }
    const end = stop.kind === 'end' ? endView(live.session.state) : null;
    if (!end || this.reportedEnd === live.session.cursor.id) return;
    this.reportedEnd = live.session.cursor.id;
    const checks = end.checks.map((check) => `  ${check.verdict}: ${check.title}. ${check.reason}\n`);
    this.console(`${stop.text}\n${checks.join('')}`, 'stdout');
  }

  private console(text: string, category: 'stderr' | 'stdout'): void {
    this.sendEvent(new OutputEvent(printable(text), category));
  }

  private exceptionText(stop: Stop): string {
    const { failure } = this.live!;
    if (stop.kind === 'failed' && failure) return `${failure.message} ${failure.next}`;
    return stop.exception?.text ?? stop.text;
  }

  protected override exceptionInfoRequest(response: P.ExceptionInfoResponse): void {
    const stop = this.live!.lastStop;
    const filter = EXCEPTION_FILTERS.find((known) => known.filter === stop.exception?.filter);
    response.body = {
      exceptionId: filter?.label ?? 'The step failed',
      description: printable(this.exceptionText(stop)),
      breakMode: 'always',
    };
    this.sendResponse(response);
  }

  // Ending

  protected override async terminateRequest(response: P.TerminateResponse): Promise<void> {
    await this.live?.pause();
    this.sendResponse(response);
    this.end();
  }

  protected override async disconnectRequest(response: P.DisconnectResponse): Promise<void> {
    const { live } = this;
    this.end();
    await live?.pause();
    this.sendResponse(response);
  }

  private end(): void {
    if (this.over) return;
    this.over = true;
    this.stopAsking();
    const { live } = this;
    if (live) {
      live.off('run', this.onRun);
      live.off('stop', this.onStop);
      live.off('close', this.onClose);
      live.watch = () => null;
      live.looksAtReal = false;
      this.host.left(live);
    }
    this.sendEvent(new TerminatedEvent());
  }
}
