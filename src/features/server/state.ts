/** What the window knows of its server, and how it is said. */
import type { Tier } from '../../core/policy';

/** `missing`: the local server was never set up. Value of `ContextKey.serverState`. */
export type ServerState = 'unknown' | 'missing' | 'stopped' | 'starting' | 'ready' | 'failed';

export interface ServerStatus {
  state: ServerState;
  /** Whether it is the local server, which this product starts and stops. */
  local: boolean;
  address: string | null;
  /** Names of the models it offers, the default first; empty while unknown. */
  models: string[];
  /** The model of the last connection, or what the next one will ask for. */
  model: string | null;
  tier: Tier | null;
  /** Tokens of prompt and output together. */
  contextLength: number | null;
  /** What it is doing, or why it failed, in one sentence. */
  message: string;
}

export const NO_SERVER: ServerStatus = {
  state: 'unknown',
  local: true,
  address: null,
  models: [],
  model: null,
  tier: null,
  contextLength: null,
  message: '',
};

const WORDS: Record<ServerState, string> = {
  unknown: 'not looked at yet',
  missing: 'not set up',
  stopped: 'stopped',
  starting: 'starting',
  ready: 'ready',
  failed: 'failed',
};

/** One or two words. */
export function stateText({ state }: ServerStatus, busy: boolean): string {
  return state === 'ready' ? (busy ? 'busy' : 'idle') : WORDS[state];
}

/** Text of the status bar item: what answers, and whether it is at work. */
export function statusBarText(status: ServerStatus, busy: boolean): string {
  const { state, model, local } = status;
  const icon =
    state === 'starting' || busy ? '$(sync~spin)' : state === 'failed' ? '$(warning)' : '$(server)';
  const who = state === 'ready' && model ? model : local ? 'Rehearsal' : 'Rehearsal server';
  return `${icon} ${who}: ${stateText(status, busy)}`;
}
