export interface ServedWorkbench {
  port: number;
  pid: number;
  output(): string;
  exited: Promise<number>;
  stop(): Promise<void>;
}

export function serveWorkbench(options: {
  dataDir: string;
  extensionsDir: string;
  password?: string;
  port?: number;
  args?: string[];
  env?: Record<string, string | undefined>;
}): Promise<ServedWorkbench>;

export function linkExtension(extensionsDir: string, folder: string, name: string): void;
export function installExtension(options: {
  dataDir: string;
  extensionsDir: string;
  vsix: string;
}): Promise<void>;
