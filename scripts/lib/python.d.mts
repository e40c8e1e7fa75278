export const MINIMUM_PYTHON: number[];
export function findPython(): Promise<{ command: string; version: string } | { problem: string }>;
