import type { Router, RouterMiddleware } from '@koa/router';

/** What a router keeps of each of its routes. */
type Layer = Router['stack'][number];

/** A route of a router, with the positions of its parameters. */
export interface FoundRoute {
  /** The methods that it answers, `HEAD` included. */
  methods: readonly string[];
  handle: RouterMiddleware;
  parameters: readonly { name: string; segment: number }[];
  /** The position in the router. */
  order: number;
}

interface Node {
  readonly fixed: Map<string, Node>;
  parameter: Node | undefined;
  readonly routes: FoundRoute[];
}

/** A segment of a path that a trie can hold: fixed text, or a parameter. */
const SEGMENT = /^(?::\w+|[\w.~-]*)$/;
const NONE: readonly FoundRoute[] = [];

/**
 * The routes of a router, found by the segments of a path: a router itself tests the regular expression of each of its routes.
 * Paths match as with the options `sensitive` and `strict`.
 */
export class RouteTrie {
  readonly #root = newNode();

  /** @throws TypeError for a route whose path has other parts than fixed segments and parameters */
  constructor({ stack }: Pick<Router, 'stack'>) {
    for (const [order, layer] of stack.entries()) this.#add(layer, order);
  }

  #add({ path, methods, stack }: Layer, order: number): void {
    const [handle] = stack;
    if (handle === undefined || typeof path !== 'string') throw new TypeError('a route needs a path and a handler');
    let node = this.#root;
    const parameters: FoundRoute['parameters'][number][] = [];
    for (const [index, segment] of segmentsOf(path).entries()) {
      if (!SEGMENT.test(segment)) throw new TypeError(`a segment of ${path} is neither fixed nor a parameter`);
      if (segment.startsWith(':')) {
        parameters.push({ name: segment.slice(1), segment: index });
        node = node.parameter ??= newNode();
      } else {
        const next = node.fixed.get(segment) ?? newNode();
        node.fixed.set(segment, next);
        node = next;
      }
    }
    node.routes.push({ methods, handle: handle as RouterMiddleware, parameters, order });
  }

  /** Returns the routes with this path, in the order of the router. */
  find(segments: readonly string[]): readonly FoundRoute[] {
    const found: (readonly FoundRoute[])[] = [];
    collect(this.#root, segments, 0, found);
    if (found.length <= 1) return found[0] ?? NONE;
    return found.flat().sort((one, other) => one.order - other.order);
  }
}

const newNode = (): Node => ({ fixed: new Map(), parameter: undefined, routes: [] });

/** Splits a path. The first segment is empty, because a path begins with a slash. */
export const segmentsOf = (path: string): string[] => path.split('/');

function collect(node: Node, segments: readonly string[], at: number, found: (readonly FoundRoute[])[]): void {
  const segment = segments[at];
  if (segment === undefined) {
    if (node.routes.length > 0) found.push(node.routes);
    return;
  }
  const fixed = node.fixed.get(segment);
  if (fixed !== undefined) collect(fixed, segments, at + 1, found);
  if (node.parameter !== undefined && segment !== '') collect(node.parameter, segments, at + 1, found);
}

/** Returns the parameters of a path that the route was found for, percent-decoded once. A malformed escape stays as it is. */
export function parametersOf({ parameters }: FoundRoute, segments: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { name, segment } of parameters) values[name] = decoded(segments[segment] ?? '');
  return values;
}

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return segment;
    throw error;
  }
}
