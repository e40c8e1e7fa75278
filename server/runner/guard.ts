/**
 * Who may talk to the server: programs of this user that know the token. A web page in the person's browser can
 * reach loopback ports too, also under a name that it points at 127.0.0.1, so Host and Origin are looked at.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface Refusal {
  status: number;
  message: string;
  type: string;
}

export function refusalOf(request: IncomingMessage, port: number, token: string): Refusal | null {
  const { host, origin, authorization } = request.headers;
  if ((request.headersDistinct.host?.length ?? 0) > 1) {
    return { status: 400, type: 'wrong_host', message: 'A request has one Host.' };
  }
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!host || !hosts.includes(host.toLowerCase())) {
    return {
      status: 421,
      type: 'wrong_host',
      message: 'This server answers under its loopback address only.',
    };
  }
  if (origin !== undefined && !hosts.some((own) => origin.toLowerCase() === `http://${own}`)) {
    return { status: 403, type: 'wrong_origin', message: 'Web pages may not use this server.' };
  }
  if (!equal(authorization ?? '', `Bearer ${token}`)) {
    const message =
      "A bearer token is needed: send the content of the token file as 'Authorization: Bearer …'.";
    return { status: 401, type: 'unauthorized', message };
  }
  return null;
}

function equal(given: string, expected: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}
