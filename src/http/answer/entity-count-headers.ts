import type { Middleware } from 'koa';

/** How many entities there are, and may be; `limit` 0 = as many as anybody likes. */
export interface EntityUse {
  count: number;
  limit: number;
}

/** Where these headers are sent. */
const CORE_PATHS = /^\/api\/core(\/|$)/;

/** From this fraction of the limit on people are warned: later, the larger the limit is. Source: spec/01 11. */
const warningFraction = (limit: number): number => Math.min(1, (0.03 * limit) / 1_000 + 0.9);

/** Says on each answer of the core API how many entities there are, unless there is no limit. */
export function tellingEntityCount(use: () => EntityUse): Middleware {
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

/** Empty while there is nothing to warn of. */
function warningOf(count: number, limit: number): string {
  return count >= limit * warningFraction(limit) ? `${count} of the ${limit} entities that are allowed exist` : '';
}
