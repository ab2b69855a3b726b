import { type TSchema } from 'typebox';
import { type EntityConfig, EntitySchema, parseEntityConfig } from '../resources/entity.ts';
import { InvalidResource } from '../resources/errors.ts';
import { assertEvent, type Event, EventSchema, parseEvent, parseEventShape } from '../resources/event.ts';
import { type CheckRequest, CheckRequestSchema, parseCheckRequest } from './check-request.ts';
import { parseEventJson, stringifyExactly } from './exact-json.ts';
import { assertJsonBounds } from './json-bounds.ts';
import { type SplitEvent, splitEvent } from './json-entity.ts';
import type { LastEntity } from './last-entity.ts';

/** Known member names of a schema. Lists are folded by item, maps by value. */
interface Shape {
  members: ReadonlyMap<string, Shape | undefined>;
  lowerCase: ReadonlyMap<string, string>;
  /** Length of the longest name. */
  longest: number;
  /** Shape of the values of a map, whose keys are kept. */
  values: Shape | undefined;
}

interface SchemaNode {
  properties?: Record<string, TSchema>;
  additionalProperties?: TSchema;
  items?: TSchema;
}

function shapeOf(schema: TSchema): Shape | undefined {
  const { properties = {}, additionalProperties, items } = schema as SchemaNode;
  if (items !== undefined) return shapeOf(items);
  const members = new Map(Object.entries(properties).map(([name, member]) => [name, shapeOf(member)] as const));
  const values = additionalProperties && shapeOf(additionalProperties);
  if (members.size === 0 && values === undefined) return undefined;
  const names = [...members.keys()];
  const longest = Math.max(0, ...names.map(({ length }) => length));
  return { members, lowerCase: new Map(names.map((name) => [name.toLowerCase(), name])), longest, values };
}

/**
 * Renames members in place that differ from a known name by case only, as agents match names. An exact match takes
 * precedence.
 */
function foldCase(value: unknown, shape: Shape | undefined): void {
  if (shape === undefined || value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    // No schema nests lists directly. Following nested lists would let a message choose the recursion depth.
    for (const item of value) if (!Array.isArray(item)) foldCase(item, shape);
    return;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    const member = shape.members.get(key) ?? shape.values;
    if (member !== undefined) {
      foldCase(object[key], member);
    } else if (key.length <= shape.longest && !shape.members.has(key)) {
      const name = shape.lowerCase.get(key.toLowerCase());
      if (name !== undefined && !Object.hasOwn(object, name)) {
        object[name] = object[key];
        foldCase(object[name], shape.members.get(name));
      }
    }
  }
}

const eventShape = shapeOf(EventSchema);
const entityShape = shapeOf(EntitySchema);
const checkRequestShape = shapeOf(CheckRequestSchema);

function foldedJson(text: string, shape: Shape | undefined): unknown {
  const value: unknown = JSON.parse(text);
  foldCase(value, shape);
  return value;
}

const foldedEvent = (text: string): unknown => foldedJson(text, eventShape);

function readJson(text: string, parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InvalidResource(jsonErrorText(error, text), { cause: error });
  }
}

/** Texts that end too early have the text of the reference. */
function jsonErrorText({ message }: SyntaxError, text: string): string {
  const isCut = message.includes('end of JSON') || message.endsWith(`at position ${text.length}`);
  return isCut ? 'unexpected end of JSON input' : 'payload is not JSON';
}

/**
 * Decodes an event. Its entity is frozen if it is that of the last event of the same sender.
 * @throws InvalidResource unless the payload is JSON within its bounds, and a valid event
 */
export function decodeEvent(payload: Buffer, last?: LastEntity): Event {
  assertJsonBounds(payload);
  const split = last && splitEvent(payload, last);
  const event = split && decodeSplit(split, last);
  return event ?? parseEvent(readEventJson(payload));
}

/** Validates the shape of an event only. The text must be within its bounds. @throws InvalidResource */
export function decodeEventShape(payload: Buffer): Event {
  return parseEventShape(readEventJson(payload));
}

function readEventJson(payload: Buffer): unknown {
  const text = payload.toString();
  return readJson(text, () => parseEventJson(text, foldedEvent));
}

/**
 * Decodes an event whose entity was cut out of its text, and the entity only if it is not known. Undefined where the event must
 * be read as a whole: its text has another entity, or is not JSON. @throws InvalidResource for an invalid event
 */
function decodeSplit({ rest, entity }: SplitEvent, last: LastEntity): Event | undefined {
  const value = parsedOrUndefined(() => parseEventJson(rest, foldedEvent)) as { entity?: unknown } | undefined;
  if (value === undefined || Object.hasOwn(value, 'entity')) return undefined;
  if (!Buffer.isBuffer(entity)) {
    const event = parseEventShape(value);
    event.entity = entity;
    assertEvent(event, true);
    return event;
  }
  value.entity = parsedOrUndefined(() => foldedJson(entity.toString(), entityShape));
  if (value.entity === undefined) return undefined;
  const event = parseEvent(value);
  if (event.entity !== undefined) last.keep({ bytes: entity, entity: event.entity, values: 0, names: 0 });
  return event;
}

/** Parses a text. Undefined where it is not JSON. */
function parsedOrUndefined(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** @throws InvalidResource */
export function decodeEntityConfig(payload: Buffer): EntityConfig {
  const text = payload.toString();
  return parseEntityConfig(readJson(text, () => foldedJson(text, entityShape)));
}

/**
 * Validates the shape only, because the agent reports an invalid check with an event.
 * @throws InvalidResource without a `config`
 */
export function decodeCheckRequest(payload: Buffer): CheckRequest {
  const text = payload.toString();
  return parseCheckRequest(readJson(text, () => foldedJson(text, checkRequestShape)));
}

/** Loads the schema of events, or compiles it where the build did not, so that no message of a peer waits for it. */
export function prepareToDecode(): void {
  parseEventShape({});
}

export const encodeJson = (value: Event | EntityConfig | CheckRequest): string => stringifyExactly(value);

/** The name in an `entity_config` for an agent whose entity is not stored. */
export const NOT_FOUND_NAME = 'not found';
