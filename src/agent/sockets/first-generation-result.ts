import { Type } from 'typebox';
import { InvalidResource } from '../../resources/errors.ts';
import { type Event, eventCheckWithDefaults, eventWithDefaults } from '../../resources/event.ts';
import { assertName } from '../../resources/names.ts';
import { int64, optional, text, textList, textsOf, uint32, validator } from '../../resources/schema.ts';
import { endOfFirstValue } from '../../wire/json-bounds.ts';

/** Results in one list. */
const MAX_RESULTS = 1_000;
const BLANK = /^[ \t\r\n]*$/;

const ResultSchema = Type.Object({
  name: optional(text()),
  output: optional(text()),
  status: optional(uint32()),
  source: optional(text()),
  client: optional(text()),
  executed: optional(int64('Unix seconds')),
  issued: optional(int64('Unix seconds')),
  interval: optional(uint32()),
  duration: optional(Type.Number()),
  command: optional(text()),
  handlers: optional(textList()),
  handler: optional(text()),
  subscribers: optional(textList()),
});
const MEMBERS = new Map(Object.keys(ResultSchema.properties).map((name) => [name, name]));

const validate = validator('first-generation-result', ResultSchema);

/**
 * Parses what a client of the sockets sends: a result of the first generation, or a list of results. Returns undefined while the
 * JSON is incomplete.
 * @throws InvalidResource
 */
export function parseResults(bytes: Buffer): Event[] | undefined {
  const end = endOfFirstValue(bytes);
  if (end === undefined) return undefined;
  if (!BLANK.test(bytes.toString('latin1', end))) throw new InvalidResource('text follows the result');
  const value = parsed(bytes.toString('utf8', 0, end));
  const results = Array.isArray(value) ? (value as unknown[]) : [value];
  if (results.length > MAX_RESULTS) throw new InvalidResource(`a list must have at most ${MAX_RESULTS} results`);
  return results.map(eventOf);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw new InvalidResource('the result is not JSON', { cause: error });
  }
}

/** Source: spec/03 7.3. @throws InvalidResource */
function eventOf(value: unknown): Event {
  const result = validate(inLowerCase(value));
  if (!result.name) throw new InvalidResource('a check name must be provided');
  if (!result.output) throw new InvalidResource('a check output must be provided');
  const source = result.source || result.client || '';
  if (source !== '') assertName(source, 'source');
  const { name, output, executed, issued, interval, duration, command } = result;
  const handlers =
    result.handlers && result.handlers.length > 0 ? textsOf(result.handlers) : [result.handler ?? []].flat();
  const check = eventCheckWithDefaults({
    metadata: { name },
    output,
    status: result.status ?? 0,
    handlers,
    subscriptions: result.subscribers ?? [],
    ...(executed ? { executed } : {}),
    ...(issued ? { issued } : {}),
    ...(interval ? { interval } : {}),
    ...(duration ? { duration } : {}),
    ...(command ? { command } : {}),
  });
  const entity = source === '' ? {} : { entity: { metadata: { name: source } } };
  return { ...eventWithDefaults(entity), check };
}

/** Renames the members that differ from a known one by case only. */
function inLowerCase(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [
    MEMBERS.get(name.toLowerCase()) ?? name,
    member,
  ]);
  return Object.fromEntries(members);
}
