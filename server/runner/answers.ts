/** Answers of the server's own routes: JSON, and errors in the shape that clients of the OpenAI API know. */
import type { ServerResponse } from 'node:http';
import { NodeError, UserError } from '../../src/node/errors';

export function errorBody(type: string, message: string, next?: string) {
  return { error: { message, type, param: null, code: type, ...(next ? { next } : {}) } };
}

export function answer(response: ServerResponse, status: number, body: object): void {
  answerText(response, status, 'application/json', JSON.stringify(body));
}

export function answerText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

const STATUS: { [code: string]: number } = {
  'run-unknown': 404,
  'run-refused': 400,
  'run-state': 409,
  'run-too-large': 409,
  'run-taken': 409,
  'run-unreadable': 500,
  'run-unwritable': 507,
};

/** What was thrown, as a person reads it; a defect keeps its stack for the log. */
export function answerError(response: ServerResponse, error: unknown, log: (text: string) => void): void {
  if (response.headersSent) response.destroy();
  else if (error instanceof NodeError)
    answer(response, STATUS[error.code] ?? 502, errorBody(error.code, error.message, error.next));
  else if (error instanceof UserError)
    answer(response, 502, errorBody('server-error', error.message, error.next));
  else {
    log(`defect: ${error instanceof Error ? error.stack : error}`);
    answer(
      response,
      500,
      errorBody('defect', 'Something went wrong inside the server.', 'Its log says more.'),
    );
  }
}
