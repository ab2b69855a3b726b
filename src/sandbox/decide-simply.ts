import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Event } from '../resources/event.ts';
import { describeValue } from './described-value.ts';
import type { FilterResult, StoredFilter } from './messages.ts';
import { NOT_SIMPLE } from './not-simple.ts';
import { type SimpleExpression, simpleExpression, SimpleScope } from './simple-expression.ts';

/** Beyond this number of expressions, the one that was used least recently is compiled again when it is needed. */
const MAX_CACHED_EXPRESSIONS = 1_000;

/**
 * The analysis of an expression, which depends on its text alone; `false` if it is not simple. This is a cache, not
 * state.
 */
const compiled = new LRUCache<string, SimpleExpression | false>(atMost(MAX_CACHED_EXPRESSIONS));

function compiledExpression(expression: string): SimpleExpression | undefined {
  let found = compiled.get(expression);
  if (found === undefined) {
    found = simpleExpression(expression) ?? false;
    compiled.set(expression, found);
  }
  return found || undefined;
}

/**
 * Decides about an event as `Sandbox.filter` does, but at once and without a thread, if the expressions up to the
 * decision are simple. Returns undefined if they are not, or if one throws. `event` must be redacted.
 */
export function decideSimply(
  filters: readonly StoredFilter[],
  event: Event,
  nowMs: number,
): Exclude<FilterResult, { failed: string }> | undefined {
  const scope = new SimpleScope(event, nowMs);
  try {
    for (const { name, action, expressions, libraries } of filters) {
      if (libraries.length > 0) return undefined;
      for (const expression of expressions) {
        const evaluate = compiledExpression(expression);
        if (evaluate === undefined) return undefined;
        const value = evaluate(scope);
        if (Boolean(value) === (action === 'deny')) {
          return { passes: false, filter: name, expression, value: describeValue(value) };
        }
      }
    }
    return { passes: true, notes: [] };
  } catch (error) {
    if (error !== NOT_SIMPLE) throw error;
    return undefined;
  }
}
