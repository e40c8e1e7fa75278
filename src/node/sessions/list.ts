/** The saved sessions of a workspace folder, newest first. */
import fs from 'node:fs';
import path from 'node:path';
import { rewardOf } from '../../core/reward/rollout';
import type { Check } from '../../core/reward/types';
import { wereEnded } from '../bounded';
import { loadSession } from './file';

export interface SessionSummary {
  path: string;
  id: string;
  environment: string;
  task: string;
  model: string;
  /** ISO 8601, UTC. */
  created: string;
  /** Milliseconds since 1970 of the last change. */
  changed: number;
  /** Tokens of all branches. */
  tokens: number;
  branches: number;
  /** Of the branch shown last; null while it is not done, or where it could not be scored. */
  reward: number | null;
  done: boolean;
}

export interface SessionList {
  sessions: SessionSummary[];
  /** Files that cannot be read, with the reason. */
  broken: { path: string; reason: string }[];
}

/** Of the files that are there: those that are gone are forgotten when their folder is listed. */
const cache = new Map<string, Known>();

interface Known {
  /** Of the file as it was read. */
  key: string;
  summary: SessionSummary;
  /** Checks that took too long, and are tried again later. */
  ended: readonly Check[] | null;
}

/** Reads each file once; a file that has not changed is remembered. */
export function listSessions(folder: string): SessionList {
  const list: SessionList = { sessions: [], broken: [] };
  const files = names(folder).map((name) => path.join(folder, name));
  const there = new Set(files);
  for (const file of cache.keys()) if (path.dirname(file) === folder && !there.has(file)) cache.delete(file);
  for (const file of files) {
    try {
      const { mtimeMs, size } = fs.statSync(file);
      if (size > 0) list.sessions.push(summaryOf(file, mtimeMs, `${mtimeMs}/${size}`));
    } catch (error) {
      list.broken.push({ path: file, reason: (error as Error).message });
    }
  }
  list.sessions.sort((a, b) => b.changed - a.changed || b.id.localeCompare(a.id));
  return list;
}

function names(folder: string): string[] {
  try {
    return fs.readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  } catch {
    return [];
  }
}

function summaryOf(file: string, changed: number, key: string): SessionSummary {
  const known = cache.get(file);
  if (known?.key === key && (!known.ended || wereEnded(known.ended))) return known.summary;
  const { header, session } = loadSession(file);
  const { environment, task, policy } = header.setup;
  const { state } = session.tip;
  const done = state.position.kind === 'done';
  const summary: SessionSummary = {
    path: file,
    id: header.id,
    environment: environment.name,
    task: task.id,
    model: policy.model,
    created: header.created,
    changed,
    tokens: session.nodes.filter((node) => node.reply?.kind === 'token').length,
    branches: session.nodes.filter((node) => node.children.length === 0).length,
    reward: done && !wereEnded(task.checks) ? rewardOf(state).value : null,
    done,
  };
  const ended = summary.reward === null && wereEnded(task.checks) ? task.checks : null;
  cache.set(file, { key, summary, ended });
  return summary;
}
