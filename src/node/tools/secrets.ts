// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written so in the environment file
/** Secrets in headers: `Bearer ${API_TOKEN}`. They are named in the environment, and never written into it. */
import { executorErrors } from './failures';

const NAME = /\$\{([A-Za-z_][\w.-]*)\}/g;

/** Names of the secrets that these headers need. */
export function secretNames(headers: { [name: string]: string }): string[] {
  const names = Object.values(headers).flatMap((text) => [...text.matchAll(NAME)].map(([, name]) => name!));
  return [...new Set(names)];
}

/** @param secret value of a name; where absent, environment variables */
export async function resolveSecrets(
  headers: { [name: string]: string },
  secret: (name: string) => Promise<string | undefined> = async (name) => process.env[name],
): Promise<{ [name: string]: string }> {
  const values = new Map<string, string>();
  for (const name of secretNames(headers)) {
    const value = await secret(name);
    if (!value)
      throw executorErrors.refused(`The secret ${name} is not set.`, `Set ${name}, then try again.`);
    values.set(name, value);
  }
  const entries = Object.entries(headers);
  return Object.fromEntries(
    entries.map(([key, text]) => [key, text.replace(NAME, (_, name) => values.get(name)!)]),
  );
}
