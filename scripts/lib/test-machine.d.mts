export const venvPython: string;
export function ensureVenv(log: (line: string) => void): Promise<void>;
export function ensureBrowserAndWorkbench(log: (line: string) => void): Promise<void>;
