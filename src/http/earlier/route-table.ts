import { MAX_NAME_CHARACTERS, SILENCE_ID, STORED_NAME } from './body-members.ts';
import type { EarlierRoute } from './earlier-route.ts';

/** Names of aggregates. */
const AGGREGATE_NAME = /^[\w.:|-]+$/;
/** A last parameter that takes the rest of the path, and may be any text. */
const REST = ':path*';
const RULES: ReadonlyMap<string, RegExp> = new Map([
  [':aggregate', AGGREGATE_NAME],
  [':silence', SILENCE_ID],
]);
/** Segments that must be written without escapes: ids of silences. */
const RAW = ':silence';

export interface MatchedRoute {
  route: EarlierRoute;
  params: Record<string, string>;
}

/** A route, or the methods of the path of a request with another one. */
export type FoundRoute = MatchedRoute | { allowed: string };

interface CompiledPath {
  segments: readonly string[];
  routes: EarlierRoute[];
}

/** Finds routes by path and method. Every path with a percent-encoded character other than a colon or a bar is unknown. */
export class RouteTable {
  readonly #paths: CompiledPath[] = [];

  constructor(routes: readonly EarlierRoute[]) {
    for (const route of routes) {
      const compiled = this.#paths.find(({ routes: [first] }) => first?.path === route.path);
      if (compiled === undefined) this.#paths.push({ segments: route.path.split('/'), routes: [route] });
      else compiled.routes.push(route);
    }
  }

  /** Returns the route, the methods of its path when the method is another one, or undefined for an unknown path. */
  find(method: string, path: string): FoundRoute | undefined {
    const sent = path.split('/');
    for (const { segments, routes } of this.#paths) {
      const params = paramsOf(segments, sent);
      if (params === undefined) continue;
      const wanted = method === 'HEAD' ? 'GET' : method;
      const route = routes.find((one) => one.method === wanted);
      return route === undefined ? { allowed: allowedOf(routes) } : { route, params };
    }
    return undefined;
  }
}

function allowedOf(routes: readonly EarlierRoute[]): string {
  const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return methods.join(', ');
}

function paramsOf(segments: readonly string[], sent: readonly string[]): Record<string, string> | undefined {
  const hasRest = segments.at(-1) === REST;
  if (hasRest ? sent.length < segments.length : sent.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = sent[index] ?? '';
    if (!segment.startsWith(':')) {
      if (segment !== text) return undefined;
      continue;
    }
    if (segment === REST) {
      const rest = decodedText(sent.slice(index).join('/'));
      if (rest === undefined || rest === '') return undefined;
      params['path'] = rest;
      continue;
    }
    const name = segment === RAW ? text : text.replaceAll(/%3a/gi, ':').replaceAll(/%7c/gi, '|');
    const rule = RULES.get(segment) ?? STORED_NAME;
    if (name.length > MAX_NAME_CHARACTERS || !rule.test(name)) return undefined;
    params[segment.slice(1)] = name;
  }
  return params;
}

/** Undefined for a malformed escape. */
function decodedText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
