export function writeSettings(dataDir: string): void;
export function writeLogin(dataDir: string): string;
