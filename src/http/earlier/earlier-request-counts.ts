import type { Flavour } from './flavour.ts';

/** Answered requests of one route with one status. */
export interface EarlierRequestCount {
  port: Flavour['name'];
  /** The method and the path of the route; `unknown` for a path or method without one. */
  route: string;
  status: number;
  count: number;
}

/** Counts the requests of the API of the first generation, so that operators see which routes are still used. */
export class EarlierRequestCounts {
  readonly #counts = new Map<string, EarlierRequestCount>();

  add(port: Flavour['name'], route: string, status: number): void {
    const key = `${port} ${route} ${status}`;
    const counted = this.#counts.get(key);
    if (counted === undefined) this.#counts.set(key, { port, route, status, count: 1 });
    else counted.count += 1;
  }

  all(): Iterable<EarlierRequestCount> {
    return this.#counts.values();
  }
}
