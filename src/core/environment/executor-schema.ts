// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written so in the file
/** JSON Schemas of executors: how the real tools run. One object for each kind, told apart by `kind`. */
import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { Json, JsonObject } from '../json';

const closed = { additionalProperties: false } as const;
const kind = <const K extends string>(name: K, description: string) => Type.Literal(name, { description });

const common = {
  timeoutSeconds: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 3600,
      default: 30,
      description: 'Time that one call may take.',
    }),
  ),
  sandbox: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whatever its calls do is undone with the session; training on real tools needs it.',
    }),
  ),
};

const state = Type.Optional(
  Type.Unsafe<Json>({
    description:
      'Initial state of a session: a JSON file beside the environment, or a value. A task may have its own.',
    examples: ['db.json'],
  }),
);

const workspace = Type.Optional(
  Type.Object(
    {
      folder: Type.String({
        minLength: 1,
        description: 'Folder beside the environment, copied for every session.',
      }),
      as: Type.Optional(
        Type.String({
          pattern: '^/[\\w/-]+$',
          description: 'Name of the copy in calls and answers, so that they are the same in every session.',
          examples: ['/workspace'],
        }),
      ),
    },
    {
      ...closed,
      description: 'A folder of its own for every session; ${workspace} in arguments and addresses names it.',
    },
  ),
);

const env = Type.Optional(
  Type.Array(Type.String({ pattern: '^[A-Za-z_]\\w*$' }), {
    description: 'Names of environment variables that the program gets beside PATH, HOME and the like.',
  }),
);

const command = (description: string) =>
  Type.Array(Type.String(), { minItems: 1, description, examples: [['python3', 'tools.py']] });

const headers = Type.Optional(
  Type.Record(Type.String(), Type.String(), {
    description:
      'Headers of every request. ${NAME} is a secret, or on the command line an environment variable.',
    examples: [{ Authorization: 'Bearer ${API_TOKEN}' }],
  }),
);

const Module = Type.Object(
  {
    kind: kind('module', 'JavaScript functions (arguments, state) => answer.'),
    path: Type.String({
      minLength: 1,
      description: 'An .mjs or .js file beside the environment.',
      examples: ['tools.mjs'],
    }),
    state,
    memoryMB: Type.Optional(
      Type.Integer({
        minimum: 16,
        default: 256,
        description: 'Memory that the functions of one session may use.',
      }),
    ),
    ...common,
  },
  closed,
);

const Command = Type.Object(
  {
    kind: kind('command', 'A program in any language that reads and writes JSON lines.'),
    command: command('Program and arguments. It runs in the folder of the environment, or in its workspace.'),
    per: Type.Optional(
      Type.Union([Type.Literal('session'), Type.Literal('call')], {
        default: 'session',
        description: 'One process for a session, or one for each call.',
      }),
    ),
    state,
    workspace,
    env,
    ...common,
  },
  closed,
);

const HttpTool = Type.Object(
  {
    method: Type.Optional(
      Type.Union(
        (['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const).map((name) => Type.Literal(name)),
        { default: 'GET', description: 'Method of the request.' },
      ),
    ),
    url: Type.String({
      description:
        'Path below `url`; {name} is an argument. The rest goes into the query, or into a JSON body.',
      examples: ['/orders/{order_id}'],
    }),
  },
  closed,
);

const Http = Type.Object(
  {
    kind: kind('http', 'Requests to a server.'),
    url: Type.String({ pattern: '^https?://', description: 'Address that all requests begin with.' }),
    tools: Type.Optional(
      Type.Record(Type.String(), HttpTool, { description: 'Request of each tool, by its name.' }),
    ),
    openapi: Type.Optional(
      Type.String({
        description: 'OpenAPI 3 file (JSON) beside the environment; tools are named by operation id.',
      }),
    ),
    headers,
    reset: Type.Optional(
      Type.Object(HttpTool.properties, {
        ...closed,
        description: 'Request that puts the server back at the start of a session.',
      }),
    ),
    ...common,
  },
  closed,
);

const Mcp = Type.Object(
  {
    kind: kind(
      'mcp',
      'A server of the Model Context Protocol: a program (stdio) or an address (streamable HTTP).',
    ),
    command: Type.Optional(command('Program and arguments of a server on standard input and output.')),
    url: Type.Optional(
      Type.String({ pattern: '^https?://', description: 'Address of a streamable HTTP server.' }),
    ),
    headers,
    workspace,
    env,
    ...common,
  },
  { ...closed, anyOf: [{ required: ['command'] }, { required: ['url'] }] },
);

const Replay = Type.Object(
  {
    kind: kind('replay', 'Recorded calls answer.'),
    calls: Type.Optional(
      Type.String({ description: "A .jsonl file of recorded calls; the environment's own where absent." }),
    ),
    ...common,
  },
  closed,
);

const VsCode = Type.Object(
  { kind: kind('vscode', "Tools of VS Code's language model API; only inside VS Code."), ...common },
  closed,
);

export const EXECUTOR_KINDS = {
  module: Module,
  command: Command,
  http: Http,
  mcp: Mcp,
  replay: Replay,
  vscode: VsCode,
} as const;

export type ExecutorKind = keyof typeof EXECUTOR_KINDS;
export type ExecutorOf<K extends ExecutorKind> = Static<(typeof EXECUTOR_KINDS)[K]>;

const kinds: Record<string, TObject> = EXECUTOR_KINDS;

/** `if kind is … then …`, so that an editor names what is wrong in that kind. */
export const ExecutorSchema = Type.Unsafe<{ kind: string; [setting: string]: Json }>({
  type: 'object',
  description: 'How the real tools run. Rehearsing needs none.',
  required: ['kind'],
  properties: {
    kind: {
      enum: Object.keys(kinds),
      enumDescriptions: Object.values(kinds).map((schema) => schema.properties.kind!.description),
      description: 'How the real tools run.',
    },
  },
  allOf: Object.entries(kinds).map(([name, schema]) => ({
    if: { properties: { kind: { const: name } }, required: ['kind'] },
    // biome-ignore lint/suspicious/noThenProperty: `then` is JSON Schema's keyword
    then: schema,
  })),
  defaultSnippets: [
    {
      label: 'module',
      description: 'JavaScript functions',
      body: { kind: 'module', path: 'tools.mjs', state: 'db.json' },
    },
    {
      label: 'command',
      description: 'A program in any language',
      body: { kind: 'command', command: ['python3', 'tools.py'] },
    },
    {
      label: 'http',
      description: 'Requests to a server',
      body: { kind: 'http', url: 'http://localhost:$1', tools: {} },
    },
    { label: 'mcp', description: 'An MCP server', body: { kind: 'mcp', command: ['npx', '-y', '$1'] } },
    { label: 'replay', description: 'Recorded calls', body: { kind: 'replay' } },
  ] as unknown as JsonObject[],
});
