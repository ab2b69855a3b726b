import { InvalidResource } from '../resources/errors.ts';
import { type Event, parseEventShape } from '../resources/event.ts';
import type { Int64 } from '../resources/int64.ts';

/** Maps of users, whose members may be deleted. */
const MAPS = new Set(['labels', 'annotations']);

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the JSON of an event that a mutator left as `json`. As in the reference, attributes that events do not have
 * are lost, and deleted ones keep their values.
 * @throws InvalidResource for an attribute of another type than the one that events have
 */
export function mutatedEvent(original: Event, json: string): string {
  const mutated: unknown = readJson(json);
  if (!isFields(mutated)) throw new InvalidResource('the event is no longer an object');
  const event = parseEventShape(withDeleted(original, mutated));
  restoreExactTimestamps(original, event);
  return stringify(event);
}

function readJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InvalidResource('the event cannot be written as JSON', { cause: error });
  }
}

function withDeleted(original: Fields, mutated: Fields): Fields {
  const result: Fields = { ...mutated };
  for (const [name, value] of Object.entries(original)) {
    const now = result[name];
    if (!Object.hasOwn(result, name)) result[name] = value;
    else if (!MAPS.has(name) && isFields(value) && isFields(now)) result[name] = withDeleted(value, now);
  }
  return result;
}

/** Metric points whose timestamp did not change in the sandbox get the exact one back. */
function restoreExactTimestamps(original: Event, event: Event): void {
  for (const [index, point] of (event.metrics?.points ?? []).entries()) {
    const exact = original.metrics?.points?.[index]?.timestamp;
    if (typeof exact === 'bigint' && Number(exact) === Number(point.timestamp)) point.timestamp = exact satisfies Int64;
  }
}

/** Writes exact integers as their digits, marked with a character that events rarely contain. */
const stringify = (event: Event): string =>
  JSON.stringify(event, (_key, value: unknown) =>
    typeof value === 'bigint' ? `\u0000${value}\u0000` : value,
  ).replaceAll(/"\\u0000(-?\d+)\\u0000"/g, '$1');
