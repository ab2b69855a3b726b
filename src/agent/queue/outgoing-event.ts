import type { Log } from '../../ports/log.ts';
import { InvalidResource } from '../../resources/errors.ts';
import { type Event, parseEventShape } from '../../resources/event.ts';
import { type Codec, jsonCodec } from '../../wire/codec.ts';
import { parseEventJson } from '../../wire/exact-json.ts';
import { encodeJson } from '../../wire/json-codec.ts';
import { MAX_VALUES } from '../../wire/message-bounds.ts';
import { encodeWithFittingOutputs } from './fitting-outputs.ts';

/** Default message limit of a backend, less the type line. */
const MAX_EVENT_BYTES = 10 * 1024 * 1024 - 64;
/** The characters of an event from which each step of its way takes milliseconds, and a tick of the event loop of its own. */
export const LARGE_PAYLOAD = 1024 * 1024;
/** The part of an event that its metrics may take. */
const MAX_METRIC_BYTES = 8 * 1024 * 1024;

/** The object of a point with its members and the list of its tags, and that of a tag. */
const VALUES_OF_POINT = 6;
const VALUES_OF_TAG = 3;

/**
 * Encodes an event as JSON within the limits of a message, because a rejected event would be lost: its last metrics are
 * left out, which is logged, and long outputs are cut, with a note. A large event takes many steps, a small one a few.
 */
export function* encodeWithinLimit(event: Event, log: Log): Generator<undefined, string> {
  const fitting = yield* withFittingMetrics(event, log);
  return yield* encodeWithFittingOutputs(fitting, MAX_EVENT_BYTES, encodeJson);
}

function* withFittingMetrics(event: Event, log: Log): Generator<undefined, Event> {
  const { metrics, ...rest } = event;
  const { points = null } = metrics ?? {};
  if (metrics === undefined || points === null) return event;
  const kept = yield* pointsWithin(points, MAX_VALUES - valuesOf(rest) - valuesOf(metrics.handlers));
  if (kept === points.length) return event;
  const fields = { check: event.check?.metadata.name, metrics: points.length, kept };
  log.error(fields, 'event is too large for a backend, leaving out some of its metrics');
  return { ...event, metrics: { ...metrics, points: points.slice(0, kept) } };
}

type Points = NonNullable<NonNullable<Event['metrics']>['points']>;

/** The number of the first points that have room for their values and their bytes. */
function* pointsWithin(points: Points, maxValues: number): Generator<undefined, number> {
  let values = 0;
  let bytes = 0;
  for (const [index, point] of points.entries()) {
    values += VALUES_OF_POINT + VALUES_OF_TAG * (point.tags?.length ?? 0);
    if (values > maxValues) return index;
    bytes += Buffer.byteLength(encodedPoint(point));
    if (bytes > MAX_METRIC_BYTES) return index;
    yield;
  }
  return points.length;
}

const encodedPoint = (point: Points[number]): string =>
  JSON.stringify(point, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

/** Values as backends count them in JSON, or a few more. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + valuesOf(member), 2);
}

/**
 * Encodes queued JSON in two steps, without validating its rules, because the backend must learn of invalid checks.
 * @throws InvalidResource for an invalid shape
 */
export function* encodeQueued(payload: string, codec: Codec): Generator<undefined, string | Buffer> {
  if (codec === jsonCodec) return payload;
  const event = parseEventShape(parseJson(payload));
  yield;
  return codec.encodeEvent(event);
}

function parseJson(payload: string): unknown {
  try {
    return parseEventJson(payload);
  } catch (error) {
    throw new InvalidResource('payload is not JSON', { cause: error });
  }
}
