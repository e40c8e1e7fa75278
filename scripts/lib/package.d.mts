export function vsixPath(): string;
export function packaged(): boolean;
export function makePackage(): Promise<{ file: string; size: number }>;
