import fc from 'fast-check';

const MAX_UINT32 = 4_294_967_295;

const name = fc.stringMatching(/^[\w:-]{1,20}$/);
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
const uint32 = fc.integer({ min: 0, max: MAX_UINT32 });
const texts = fc.array(text, { maxLength: 3 });
const textMap = fc.dictionary(text, text, { maxKeys: 3 });

/** Metadata with the members of `required`, and any selection of the optional ones. */
const metaOf = (required: Record<string, fc.Arbitrary<string>>) =>
  fc
    .tuple(
      fc.record(required),
      fc.record({ labels: textMap, annotations: textMap, created_by: name }, { requiredKeys: [] }),
    )
    .map(([always, sometimes]) => ({ ...always, ...sometimes }));

const check = fc.record(
  {
    metadata: metaOf({ name }),
    command: text,
    handlers: texts,
    interval: fc.integer({ min: 1, max: 4 }),
    status: uint32,
    output: text,
    executed: seconds,
    issued: seconds,
    duration: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    ttl: fc.integer({ min: 5, max: 1_000_000 }),
    timeout: uint32,
    subscriptions: fc.array(name, { maxLength: 3 }),
    history: fc.array(fc.record({ status: uint32, executed: seconds }), { maxLength: 22 }),
    occurrences: seconds,
    env_vars: fc.array(
      name.map((key) => `${key}=x`),
      { maxLength: 2 },
    ),
    proxy_entity_name: name,
    check_hooks: fc.array(
      fc.tuple(name, texts).map(([type, hooks]) => ({ [type]: hooks })),
      { maxLength: 2 },
    ),
    silenced: texts,
    publish: fc.boolean(),
    round_robin: fc.boolean(),
  },
  { requiredKeys: ['metadata', 'interval'] },
);

const entity = fc.record(
  {
    entity_class: fc.constantFrom('agent', 'proxy', 'service'),
    metadata: metaOf({ name, namespace: name }),
    subscriptions: texts,
    system: fc.record({ hostname: text, os: text, arch: text }, { requiredKeys: [] }),
    last_seen: seconds,
    deregister: fc.boolean(),
    redact: texts,
    user: name,
  },
  { requiredKeys: ['entity_class', 'metadata'] },
);

const metrics = fc.record({
  handlers: texts,
  points: fc.array(fc.record({ name: text, value: fc.integer(), timestamp: seconds }), { maxLength: 3 }),
});

/** Valid events as clients send them, with any selection of the optional members. */
export const validEvents: fc.Arbitrary<Record<string, unknown>> = fc.record(
  {
    entity,
    check,
    timestamp: seconds,
    id: fc.uuid(),
    sequence: seconds,
    metrics,
    metadata: metaOf({}),
    pipelines: fc.array(fc.record({ name, type: fc.constant('Pipeline'), api_version: fc.constant('core/v2') })),
  },
  { requiredKeys: ['entity', 'check'] },
);

/** Valid events of which one member, at any depth, is replaced by an arbitrary JSON value. */
export const damagedEvents: fc.Arbitrary<unknown> = fc
  .tuple(validEvents, fc.nat(), fc.jsonValue())
  .map(([event, place, damage]) => damaged(event, place, damage));

function damaged(event: Record<string, unknown>, place: number, damage: unknown): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(event));
  const members = membersOf(copy);
  const chosen = members[place % members.length];
  if (chosen === undefined) return damage;
  chosen.holder[chosen.key] = damage;
  return copy;
}

interface Member {
  holder: Record<string, unknown>;
  key: string;
}

function membersOf(value: unknown): Member[] {
  if (value === null || typeof value !== 'object') return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...membersOf(holder[key])]);
}
