export class NativeBuildError extends Error {}

export interface HostPaths {
  dir: string;
  node: string;
  nodeHome: string;
  entry: string;
  vscode: string;
}

export function hostDir(): string;
export function hostPaths(dir?: string): HostPaths;
export function hostReady(dir?: string): boolean;
export function installHost(options?: { dir?: string; log?: (line: string) => void }): Promise<HostPaths>;
