import type { BuildOptions } from 'esbuild';

export const program: BuildOptions;
export function build(options?: { production?: boolean; watch?: boolean }): Promise<void>;
export function upToDate(production?: boolean): boolean;
