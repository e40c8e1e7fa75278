export function build(options?: { production?: boolean; watch?: boolean }): Promise<void>;
export function upToDate(production?: boolean): boolean;
