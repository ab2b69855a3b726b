import type { Context } from 'koa';

/** The number of entities and its limit; a `limit` of 0 means unlimited. */
export interface EntityUse {
  count: number;
  limit: number;
  /** Entities whose results were refused within an hour, because of their number or size. */
  full: number;
}

/** Paths whose responses carry the headers. */
const CORE_PATHS = /^\/api\/core(\/|$)/;

/** Fraction of the limit at which the warning starts; it grows with the limit. Source: spec/01 11. */
const warningFraction = (limit: number): number => Math.min(1, (0.03 * limit) / 1_000 + 0.9);

/**
 * Answers a request, and adds the number of entities to responses of the core API while it is limited, also to those of errors,
 * and a warning about full ones.
 */
export async function withEntityCount(
  { path, res }: Context,
  use: () => EntityUse,
  answer: () => Promise<void> | void,
): Promise<void> {
  try {
    await answer();
  } finally {
    const { count, limit, full } = use();
    if ((limit > 0 || full > 0) && CORE_PATHS.test(path)) {
      if (limit > 0) {
        res.setHeader('Sensu-Entity-Count', String(count));
        res.setHeader('Sensu-Entity-Limit', String(limit));
      }
      const warnings = [countWarning(count, limit), fullWarning(full)];
      res.setHeader('Sensu-Entity-Warning', warnings.filter(Boolean).join('; '));
    }
  }
}

/** Empty below the warning threshold. */
function countWarning(count: number, limit: number): string {
  return limit > 0 && count >= limit * warningFraction(limit)
    ? `${count} of the ${limit} entities that are allowed exist`
    : '';
}

function fullWarning(full: number): string {
  if (full === 0) return '';
  const entities = full === 1 ? '1 entity' : `${full} entities`;
  return `results of ${entities} were refused within the last hour, because of their number or size`;
}
