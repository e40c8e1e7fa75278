export function findPython(): Promise<{ command: string; version: string } | { problem: string }>;
