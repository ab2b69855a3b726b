import { type TSchema } from 'typebox';
import { CheckSchema, parseCheckShape, type Check } from '../resources/check.ts';
import { type EntityConfig, EntitySchema, parseEntityConfig } from '../resources/entity.ts';
import { InvalidResource } from '../resources/errors.ts';
import { type Event, EventSchema, parseEvent } from '../resources/event.ts';

/** A check run that the backend asks an agent for. */
export interface CheckRequest {
  config: Check;
  assets: unknown[] | null;
  hooks: unknown[] | null;
  /** Unix seconds; the agent drops what is not newer than the last one of the same check. */
  issued: number;
  hook_assets: Record<string, unknown>;
}

/** The members a schema knows, by name; lists are folded item by item. */
interface Shape {
  members: ReadonlyMap<string, Shape | undefined>;
  lowerCase: ReadonlyMap<string, string>;
}

interface SchemaNode {
  properties?: Record<string, TSchema>;
  items?: TSchema;
}

function shapeOf(schema: TSchema): Shape | undefined {
  const { properties, items } = schema as SchemaNode;
  if (items !== undefined) return shapeOf(items);
  if (properties === undefined) return undefined;
  const members = new Map(Object.entries(properties).map(([name, member]) => [name, shapeOf(member)] as const));
  return { members, lowerCase: new Map([...members.keys()].map((name) => [name.toLowerCase(), name])) };
}

/** Agents match member names without case: renames what differs from a known name by case only, in place. An exact name wins. */
function foldCase(value: unknown, shape: Shape | undefined): void {
  if (shape === undefined || value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    // No schema has lists of lists: following them would let a message choose the depth of the call stack.
    for (const item of value) if (!Array.isArray(item)) foldCase(item, shape);
    return;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    const member = shape.members.get(key);
    if (member !== undefined) {
      foldCase(object[key], member);
    } else if (!shape.members.has(key)) {
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
const checkShape = shapeOf(CheckSchema);

function parseJson(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString()) as unknown;
  } catch (error) {
    throw new InvalidResource('payload is not JSON', { cause: error });
  }
}

/** @throws InvalidResource for what is not JSON, not an event, or breaks a rule of events */
export function decodeEvent(payload: Buffer): Event {
  const value = parseJson(payload);
  foldCase(value, eventShape);
  return parseEvent(value);
}

/** @throws InvalidResource */
export function decodeEntityConfig(payload: Buffer): EntityConfig {
  const value = parseJson(payload);
  foldCase(value, entityShape);
  return parseEntityConfig(value);
}

/** Shape only: the agent answers a check that breaks a rule with an event. @throws InvalidResource without a `config` */
export function decodeCheckRequest(payload: Buffer): CheckRequest {
  const value = parseJson(payload);
  if (value === null || typeof value !== 'object') throw new InvalidResource('check request must be an object');
  const { config, issued, assets, hooks } = value as Partial<Record<keyof CheckRequest, unknown>>;
  if (config === null || typeof config !== 'object')
    throw new InvalidResource('check request config must be an object');
  if (issued !== undefined && !Number.isSafeInteger(issued)) {
    throw new InvalidResource('check request issued must be an integer');
  }
  foldCase(config, checkShape);
  return {
    config: parseCheckShape(config),
    assets: Array.isArray(assets) && assets.length > 0 ? (assets as unknown[]) : null,
    hooks: Array.isArray(hooks) && hooks.length > 0 ? (hooks as unknown[]) : null,
    issued: (issued as number | undefined) ?? 0,
    hook_assets: {},
  };
}

export const encodeJson = (value: Event | EntityConfig | CheckRequest): string => JSON.stringify(value);

/** The name in an `entity_config` that says the backend has none stored. */
export const NOT_FOUND_NAME = 'not found';
