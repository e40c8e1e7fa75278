/** Where the cursor is in the transcript, and where turns begin. */

import { INDENT, type TranscriptDocument } from '../../core/rehearsal/document';
import { currentOutput, currentTurnIndex } from '../../core/rehearsal/machine';
import type { Session } from '../../core/rehearsal/session';

/** Zero-based; the end is exclusive. */
export interface Place {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

/** The token or observation at the cursor; where there is none yet, the heading of what comes next. */
export function cursorPlace(session: Session, document: TranscriptDocument): Place {
  const { cursor } = session;
  const lines = document.text.split('\n');
  const wholeLine = (line: number, column: number): Place => {
    return { line, column, endLine: line, endColumn: Math.max(column, lines[line]?.length ?? 0) };
  };
  for (let node = cursor; node.parent !== null; node = session.node(node.parent)) {
    if (node.reply?.kind === 'token') {
      const place = document.tokens.find((token) => token.node === node.id);
      if (place) return place;
    }
    if (node.reply?.kind === 'observation' || node.reply?.kind === 'executed') {
      const line = document.observations.get(node.id);
      if (line !== undefined) return wholeLine(line, INDENT.length);
    }
    if (node.reply?.kind === 'prompt') {
      const output = currentOutput(node.state);
      const found = document.outputs.find(
        (place) => place.turn === output?.turn && place.call === output?.call,
      );
      if (found) return wholeLine(found.line, 0);
    }
    if (node.reply?.kind === 'user') {
      const line = document.turns.get(currentTurnIndex(node.state));
      if (line !== undefined) return wholeLine(line, 0);
    }
  }
  return wholeLine(0, 0);
}

/** The node with which a turn's ACT begins on the branch shown; undefined where it has not come to that turn. */
export function turnStart(session: Session, turn: number): number | undefined {
  const path = session.path(session.tip.id);
  return path.find(({ reply, state }) => reply?.kind === 'prompt' && state.turns.length === turn)?.id;
}
