/**
 * Every id that package.json and the code share, once. `test/unit/features/ids.test.ts` holds this module and
 * package.json equal in both directions.
 */

/** Commands of the palette, of menus and of trees. */
export const Command = {
  startSession: 'rehearsal.startSession',
  startRealSession: 'rehearsal.startRealSession',
  debugTask: 'rehearsal.debugTask',
  runTasks: 'rehearsal.runTasks',
  executeTasks: 'rehearsal.executeTasks',
  compareTasks: 'rehearsal.compareTasks',
  runSession: 'rehearsal.runSession',
  stepBack: 'rehearsal.stepBack',
  restartTask: 'rehearsal.restartTask',
  showPanel: 'rehearsal.showPanel',
  showTranscript: 'rehearsal.showTranscript',
  openSession: 'rehearsal.openSession',
  openSavedSession: 'rehearsal.openSavedSession',
  openSessionAtTurn: 'rehearsal.openSessionAtTurn',
  deleteSession: 'rehearsal.deleteSession',
  openExamples: 'rehearsal.openExamples',
  openEnvironment: 'rehearsal.openEnvironment',
  refreshEnvironments: 'rehearsal.refreshEnvironments',
  setUpServer: 'rehearsal.setUpServer',
  startServer: 'rehearsal.startServer',
  stopServer: 'rehearsal.stopServer',
  restartServer: 'rehearsal.restartServer',
  setServerToken: 'rehearsal.setServerToken',
  selectModel: 'rehearsal.selectModel',
  compare: 'rehearsal.compare',
  openComparison: 'rehearsal.openComparison',
  clearDifferences: 'rehearsal.clearDifferences',
  launchTraining: 'rehearsal.launchTraining',
  openRun: 'rehearsal.openRun',
  stopRun: 'rehearsal.stopRun',
  resumeRun: 'rehearsal.resumeRun',
  deleteRun: 'rehearsal.deleteRun',
  exportRollouts: 'rehearsal.exportRollouts',
  compareCheckpoints: 'rehearsal.compareCheckpoints',
  branchCheckpoint: 'rehearsal.branchCheckpoint',
  exportCheckpoint: 'rehearsal.exportCheckpoint',
  useCheckpoint: 'rehearsal.useCheckpoint',
  showLog: 'rehearsal.showLog',
  executeCall: 'rehearsal.executeCall',
  rehearseCall: 'rehearsal.rehearseCall',
  manageConsents: 'rehearsal.manageConsents',
  setToolSecret: 'rehearsal.setToolSecret',
} as const;

export const ViewContainer = 'rehearsal';

export const WALKTHROUGH = 'rehearsal';

export const View = {
  environments: 'rehearsal.environments',
  sessions: 'rehearsal.sessions',
  training: 'rehearsal.training',
  server: 'rehearsal.server',
} as const;

export const Setting = {
  serverAddress: 'rehearsal.server.address',
  serverPython: 'rehearsal.server.python',
  serverHome: 'rehearsal.server.home',
  model: 'rehearsal.model',
  temperature: 'rehearsal.sampling.temperature',
  seed: 'rehearsal.sampling.seed',
  alternatives: 'rehearsal.sampling.alternatives',
  trustAnnotations: 'rehearsal.tools.trustAnnotations',
  judgeAddress: 'rehearsal.judge.address',
  judgeModel: 'rehearsal.judge.model',
  testAttempts: 'rehearsal.test.attempts',
  testConcurrency: 'rehearsal.test.concurrency',
  testPasses: 'rehearsal.test.passes',
  testShare: 'rehearsal.test.share',
} as const;

/** Context keys that `when` clauses of package.json read. */
export const ContextKey = {
  /** What the server does: see `ServerState` in `server/state.ts`. */
  serverState: 'rehearsal.serverState',
  /** It answers: the walkthrough's step is done. */
  serverReady: 'rehearsal.serverReady',
  /** The walkthrough was opened by us: VS Code takes no note of what was so before it knew the steps. */
  welcomed: 'rehearsal.welcomed',
  /** The workspace has at least one environment file. */
  hasEnvironments: 'rehearsal.hasEnvironments',
  /** As `isWorkspaceTrusted`, which a window that is just opening sets much later. */
  trusted: 'rehearsal.trusted',
  /** A session is open in this window. */
  hasSession: 'rehearsal.hasSession',
} as const;

export const Language = {
  environment: 'rehearsal-environment',
  training: 'rehearsal-training',
  transcript: 'rehearsal-transcript',
  answer: 'rehearsal-answer',
} as const;

export const DEBUG_TYPE = 'rehearsal';

/** Scheme of the read-only transcript documents. */
export const TRANSCRIPT_SCHEME = 'rehearsal-transcript';

/** Scheme of answers to single calls. */
export const CALL_SCHEME = 'rehearsal-call';

/** End of their names, by which VS Code gives them their language. */
export const TRANSCRIPT_EXTENSION = '.rehearsal-log';

/** View type of the session panel. */
export const SESSION_PANEL = 'rehearsal.session';

/** View type of the compare page. */
export const COMPARE_PANEL = 'rehearsal.compare.page';

/** Scheme of the two read-only documents of a compared pair. */
export const COMPARED_SCHEME = 'rehearsal-compared';

/** End of their names, by which VS Code gives them their language, and folds what matches. */
export const ANSWER_EXTENSION = '.rehearsal-answer';

/** View type of the page of a run. */
export const TRAINING_PANEL = 'rehearsal.training.run';

/** View type of the page over a training file. */
export const TRAINING_EDITOR = 'rehearsal.training.file';

/** Name of the log output channel. */
export const LOG_CHANNEL = 'Rehearsal';

export const ENVIRONMENT_FILES = '**/*.rehearsal.json';

export const TEST_CONTROLLER = 'rehearsal.tasks';
