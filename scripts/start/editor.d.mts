interface Surroundings {
  browser?: boolean;
  env?: { [name: string]: string | undefined };
  find?: (command: string) => string | undefined;
}
export const EXAMPLES: string;
export function chooseEditor(
  surroundings?: Surroundings,
): { kind: 'desktop' | 'remote'; code: string } | { kind: 'browser' };
