/**
 * What a person has allowed to run, by workspace, tool and executor identity. A program, an address or a module is
 * agreed to once; after that only tools that are not declared read-only are asked for. Kept outside of workspaces:
 * nobody can send a workspace that brings its own consent.
 */
import type { Tool } from '../../core/environment/types';
import { executorErrors } from './failures';
import type { Execution, Executor, Identity, ToolCall, ToolSession } from './types';

export interface Grant {
  /** Folder of the workspace. */
  workspace: string;
  identity: Identity;
  /** Null for the executor itself. */
  tool: string | null;
  /** The person trusts what this MCP server says of its tools. */
  annotations?: boolean;
  /** ISO 8601. */
  at: string;
}

export interface ConsentStorage {
  read(): Promise<Grant[]>;
  write(grants: Grant[]): Promise<void>;
}

export interface ConsentRequest {
  workspace: string;
  identity: Identity;
  /** All tools that are going to be called: a batch asks once. */
  tools: readonly Pick<Tool, 'name' | 'readOnly' | 'hinted'>[];
}

/** What is still to be asked. */
export interface Missing {
  /** The executor itself was not agreed to, or it has changed since. */
  executor: boolean;
  tools: string[];
}

export class ConsentStore {
  constructor(
    private readonly storage: ConsentStorage,
    private readonly now: () => string = () => new Date().toISOString(),
  ) {}

  async missing({ workspace, identity, tools }: ConsentRequest): Promise<Missing> {
    const own = (await this.storage.read()).filter(
      (grant) =>
        grant.workspace === workspace &&
        grant.identity.hash === identity.hash &&
        grant.identity.kind === identity.kind,
    );
    const trusted = own.some(({ annotations }) => annotations);
    const asked = tools.filter(({ name, readOnly, hinted }) => {
      const reads = readOnly && (!hinted || trusted);
      return !reads && !own.some(({ tool }) => tool === name);
    });
    return { executor: own.length === 0, tools: asked.map(({ name }) => name) };
  }

  /** @param annotations whether the server's word counts for which of its tools only read */
  async grant({ workspace, identity, tools }: ConsentRequest, annotations?: boolean): Promise<void> {
    const at = this.now();
    const before = await this.storage.read();
    const own = { workspace, identity, at };
    const trusted =
      annotations || before.some((grant) => same(grant, { ...own, tool: null }) && grant.annotations);
    const added: Grant[] = [
      { ...own, tool: null, ...(trusted ? { annotations: true } : {}) },
      ...tools.map(({ name }) => ({ ...own, tool: name })),
    ];
    const kept = before.filter((grant) => !added.some((one) => same(one, grant)));
    await this.storage.write([...kept, ...added]);
  }

  list(): Promise<Grant[]> {
    return this.storage.read();
  }

  /** Takes a grant back; with the executor itself go all of its tools. */
  async revoke(grant: Grant): Promise<void> {
    const all = await this.storage.read();
    await this.storage.write(
      all.filter((one) => (grant.tool === null ? !same({ ...one, tool: null }, grant) : !same(one, grant))),
    );
  }

  async revokeAll(): Promise<void> {
    await this.storage.write([]);
  }
}

function same(a: Grant, b: Grant): boolean {
  return (
    a.workspace === b.workspace &&
    a.tool === b.tool &&
    a.identity.kind === b.identity.kind &&
    a.identity.hash === b.identity.hash
  );
}

/** Asks before something runs; rejects with what a person should read where it may not. */
export type Gate = (request: Omit<ConsentRequest, 'workspace'>, call?: ToolCall) => Promise<void>;

/**
 * The executor behind a gate: the gate is asked before every call with what would run now, so that a module that
 * was saved meanwhile is another identity. A refused call is an execution that says so.
 */
export function guarded(executor: Executor, tools: readonly Tool[], gate: Gate): Executor {
  const toolOf = (name: string) => tools.find((tool) => tool.name === name) ?? { name, readOnly: false };
  return {
    kind: executor.kind,
    isolated: executor.isolated,
    identity: () => executor.identity(),
    close: () => executor.close(),
    ...(executor.onToolsChanged ? { onToolsChanged: (listener) => executor.onToolsChanged!(listener) } : {}),
    async tools(signal) {
      await gate({ identity: await executor.identity(), tools: [] });
      return executor.tools(signal);
    },
    async open(state, signal) {
      const session = await executor.open(state, signal);
      return {
        state: () => session.state(),
        close: () => session.close(),
        async execute(call, abort): Promise<Execution> {
          try {
            await gate({ identity: await executor.identity(), tools: [toolOf(call.tool)] }, call);
          } catch (error) {
            const { message } = error as Error;
            const failure = { code: 'refused' as const, message };
            return { outcome: 'error', value: { error: message }, durationMs: 0, failure };
          }
          return session.execute(call, abort);
        },
      } satisfies ToolSession;
    },
  };
}

/** The command line's gate: nothing runs without `--allow`, and a tool that may write only by its own name. */
export function allowGate(allowed: readonly string[]): Gate {
  return async ({ identity, tools }) => {
    const byName = tools.filter(
      ({ name, readOnly, hinted }) => !allowed.includes(name) && (!readOnly || hinted),
    );
    if (allowed.length > 0 && byName.length === 0) return;
    // Tools that only read need no more than that the executor may run: any name says so.
    const names = byName.length ? byName.map(({ name }) => name) : [tools[0]?.name ?? 'TOOL'];
    const flags = names
      .map((name) => `--allow ${/^[\w./-]+$/.test(name) ? name : JSON.stringify(name)}`)
      .join(' ');
    throw executorErrors.refused(
      `Nothing was executed: this would run ${identity.what}${identity.folder ? ` in ${identity.folder}` : ''}.`,
      `Add ${flags} to allow it.`,
    );
  };
}
