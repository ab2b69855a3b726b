import type { Middleware } from 'koa';

/** The number of entities and its limit; a `limit` of 0 means unlimited. */
export interface EntityUse {
  count: number;
  limit: number;
}

/** Paths whose responses carry the headers. */
const CORE_PATHS = /^\/api\/core(\/|$)/;

/** Fraction of the limit at which the warning starts; it grows with the limit. Source: spec/01 11. */
const warningFraction = (limit: number): number => Math.min(1, (0.03 * limit) / 1_000 + 0.9);

/** Middleware that adds the number of entities to responses of the core API while it is limited. */
export function entityCountHeaders(use: () => EntityUse): Middleware {
  return async ({ path, res }, next) => {
    try {
      await next();
    } finally {
      const { count, limit } = use();
      if (limit > 0 && CORE_PATHS.test(path)) {
        res.setHeader('Sensu-Entity-Count', String(count));
        res.setHeader('Sensu-Entity-Limit', String(limit));
        res.setHeader('Sensu-Entity-Warning', warningOf(count, limit));
      }
    }
  };
}

/** Empty below the warning threshold. */
function warningOf(count: number, limit: number): string {
  return count >= limit * warningFraction(limit) ? `${count} of the ${limit} entities that are allowed exist` : '';
}
