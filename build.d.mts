import type { BuildOptions } from 'esbuild';

/** A bundle: options of esbuild; `testsOnly` is not packaged. */
export interface Bundle extends BuildOptions {
  testsOnly?: boolean;
}

export const program: BuildOptions;
export const BUNDLES: readonly Bundle[];
export function options(bundle: Bundle, production: boolean): BuildOptions;
export function build(options?: { production?: boolean; watch?: boolean }): Promise<void>;
export function upToDate(production?: boolean): boolean;
