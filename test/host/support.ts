/** What suites inside the extension host share. */
import type { DriverRequest } from '../harness/driver';

/** Asks the process that holds the browser for a click, a text, a picture; see `test/harness/driver.ts`. */
export async function driver<T = unknown>(request: DriverRequest): Promise<T> {
  const response = await fetch(process.env.HOST_DRIVER!, { method: 'POST', body: JSON.stringify(request) });
  const { value, error } = (await response.json()) as { value: T; error?: string };
  if (error) throw new Error(error);
  return value;
}

/** Waits until `condition` gives a truthy value, and gives it. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  timeout = 20_000,
): Promise<NonNullable<T>> {
  const end = Date.now() + timeout;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<T>;
    if (Date.now() > end) throw new Error(`Waited in vain for ${what}`);
    await new Promise((ok) => setTimeout(ok, 30));
  }
}
