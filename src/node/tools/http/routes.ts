/** Which request a call of a tool is: from URL templates, or from an OpenAPI file. */
import type { Tool } from '../../../core/environment/types';
import { isObject, type Json, type JsonObject } from '../../../core/json';
import { failures } from '../failures';

export interface Route {
  method: string;
  /** Path below the address, `{name}` for arguments. */
  url: string;
  /** Where OpenAPI says so; else what the template does not name goes into the query, or into the body. */
  places?: { [argument: string]: 'path' | 'query' | 'header' | 'body' };
  tool?: Tool;
}

export interface Request {
  method: string;
  /** Path and query, below the address. */
  path: string;
  headers: { [name: string]: string };
  body?: string;
}

const WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE']);

/** Throws `ToolFailureError` where an argument that the path needs is missing. */
export function requestOf(route: Route, args: JsonObject): Request {
  const left = new Map(Object.entries(args));
  const path = route.url.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = left.get(name);
    left.delete(name);
    if (value === undefined || value === null || typeof value === 'object' || value === '') {
      throw failures.arguments(`${name} is part of the address and must be a string or a number`);
    }
    // `.` and `..` would be steps in the path; a server sees the dot, a URL parser does not.
    return encodeURIComponent(String(value)).replace(/^\.{1,2}$/, (dots) => '%2E'.repeat(dots.length));
  });
  const headers: Request['headers'] = {};
  const query = new URLSearchParams();
  const body: JsonObject = {};
  for (const [name, value] of left) {
    const place = route.places?.[name] ?? (WITHOUT_BODY.has(route.method) ? 'query' : 'body');
    if (place === 'body') body[name] = value;
    else if (place === 'header') headers[name] = textOf(value);
    else for (const item of Array.isArray(value) ? value : [value]) query.append(name, textOf(item));
  }
  const search = query.size ? `${path.includes('?') ? '&' : '?'}${query}` : '';
  const hasBody = !WITHOUT_BODY.has(route.method) && (Object.keys(body).length > 0 || !route.places);
  if (hasBody) headers['content-type'] = 'application/json';
  return {
    method: route.method,
    path: path + search,
    headers,
    ...(hasBody ? { body: JSON.stringify(body) } : {}),
  };
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head'];

/** Routes by operation id; operations without one are left out. */
export function openApiRoutes(document: Json): Map<string, Route> {
  const routes = new Map<string, Route>();
  const paths = isObject(document) && isObject(document.paths) ? document.paths : {};
  for (const [url, item] of Object.entries(paths)) {
    if (!isObject(item)) continue;
    for (const method of METHODS) {
      const operation = item[method];
      if (!isObject(operation) || typeof operation.operationId !== 'string') continue;
      const shared = [item.parameters ?? [], operation.parameters ?? []].flat();
      const parameters = shared.map((one) => resolved(document, one)).filter(isObject);
      routes.set(operation.operationId, routeOf(document, url, method.toUpperCase(), operation, parameters));
    }
  }
  return routes;
}

function routeOf(
  document: Json,
  url: string,
  method: string,
  operation: JsonObject,
  parameters: JsonObject[],
): Route {
  const properties: JsonObject = {};
  const required: string[] = [];
  const places: NonNullable<Route['places']> = {};
  for (const { name, in: place, schema, description, required: needed } of parameters) {
    if (typeof name !== 'string' || !['path', 'query', 'header'].includes(place as string)) continue;
    places[name] = place as 'path' | 'query' | 'header';
    const own = resolved(document, schema ?? {});
    properties[name] = {
      ...(isObject(own) ? own : {}),
      ...(description === undefined ? {} : { description }),
    };
    if (needed === true) required.push(name);
  }
  const body = bodySchema(document, operation);
  for (const [name, schema] of Object.entries(isObject(body.properties) ? body.properties : {})) {
    places[name] ??= 'body';
    properties[name] ??= resolved(document, schema);
  }
  if (Array.isArray(body.required)) required.push(...(body.required as string[]));
  const text = [operation.summary, operation.description]
    .filter((part) => typeof part === 'string')
    .join('. ');
  const tool: Tool = {
    name: operation.operationId as string,
    description: text,
    parameters: { type: 'object', properties, required: [...new Set(required)] },
    readOnly: method === 'GET' || method === 'HEAD',
    // The method says so, and not the author.
    ...(method === 'GET' || method === 'HEAD' ? { hinted: true } : {}),
  };
  return { method, url, places, tool };
}

function bodySchema(document: Json, operation: JsonObject): JsonObject {
  const body = resolved(document, operation.requestBody ?? {});
  const content = isObject(body) && isObject(body.content) ? body.content : {};
  const json = content['application/json'];
  const schema = isObject(json) ? resolved(document, json.schema ?? {}) : {};
  return isObject(schema) ? schema : {};
}

/** The value with all its references followed, as deep as they do not repeat. */
function resolved(document: Json, value: Json, seen: readonly string[] = []): Json {
  if (Array.isArray(value)) return value.map((item) => resolved(document, item, seen));
  if (!isObject(value)) return value;
  if (typeof value.$ref === 'string') {
    const { $ref } = value;
    if (!$ref.startsWith('#/') || seen.includes($ref)) return {};
    let target: Json | undefined = document;
    for (const step of $ref.slice(2).split('/')) {
      const name = decodeURIComponent(step).replace(/~1/g, '/').replace(/~0/g, '~');
      target = isObject(target) && Object.hasOwn(target, name) ? target[name] : undefined;
    }
    return target === undefined ? {} : resolved(document, target, [...seen, $ref]);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolved(document, item, seen)]),
  );
}
