/** How a window finds the server: a small file with its address, checked by asking it. */
import fs from 'node:fs';
import { type Home, homeAt, readToken } from './home';

/** Changes whenever windows and servers of different versions no longer understand each other. */
export const PROTOCOL = 1;

export interface Discovery {
  url: string;
  pid: number;
  /** Version of the product. */
  version: string;
  /** Fingerprint of the server's files. */
  build: string;
  protocol: number;
  /** File with the bearer token (mode 0600). */
  tokenFile: string;
}

export type EngineState = 'starting' | 'ready' | 'restarting' | 'failed' | 'stopped';

/** What `/health` answers. */
export interface Health {
  protocol: number;
  version: string;
  build: string;
  pid: number;
  engine: { state: EngineState; message: string; restarts: number };
  /** Names of the models, the default first; empty until the engine is ready. */
  models: string[];
  /** Requests that are being answered, and training runs that are at work or wait for their turn. */
  active: number;
  /** Training: the run at work, and how many wait. Absent: a server that does not train. */
  training?: { running: string | null; queued: number };
}

export interface RunningServer extends Discovery {
  token: string;
  health: Health;
}

/** The server that runs for this user, or null. Never starts anything. */
export async function findServer(root?: string): Promise<RunningServer | null> {
  const home = homeAt(root);
  const discovery = readDiscovery(home);
  if (!discovery || !isAlive(discovery.pid)) return null;
  const token = readToken(home.token);
  if (!token) return null;
  const health = await askHealth(discovery.url, token);
  // Another program may have that port or that process id by now.
  return health && health.pid === discovery.pid ? { ...discovery, token, health } : null;
}

export function readDiscovery(home: Home): Discovery | null {
  try {
    const found = JSON.parse(fs.readFileSync(home.discovery, 'utf8')) as Discovery;
    const whole = typeof found.url === 'string' && Number.isInteger(found.pid) && isLoopback(found.url);
    return whole ? found : null;
  } catch {
    return null;
  }
}

/** The token goes nowhere else, whatever the file says. */
function isLoopback(url: string): boolean {
  return /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** What a server says of itself; null where it is none of ours, or does not answer. */
export async function askHealth(url: string, token: string, ms = 5000): Promise<Health | null> {
  try {
    const answer = await fetch(`${url}/health`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ms),
    });
    return answer.ok ? ((await answer.json()) as Health) : null;
  } catch {
    return null;
  }
}
