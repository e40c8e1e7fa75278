/** Where the cursor is in the transcript. */

import type { TranscriptDocument } from '../../core/rehearsal/document';
import { currentOutput, currentTurnIndex } from '../../core/rehearsal/machine';
import type { Session } from '../../core/rehearsal/session';

/** Zero-based; the end is exclusive. */
export interface Place {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

const INDENT = 2;

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
      if (line !== undefined) return wholeLine(line, INDENT);
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

/** Where an output stands, or null where the branch shown has not come to it. */
export function outputPlace(document: TranscriptDocument, turn: number, call: number | null): Place | null {
  const found = document.outputs.find((place) => place.turn === turn && place.call === call);
  return found ? { line: found.line, column: 0, endLine: found.endLine, endColumn: 0 } : null;
}
