import { expect } from 'chai';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { configOf } from '../../src/resources/entity.ts';
import { type Event, parseEvent } from '../../src/resources/event.ts';
import { decodeEntityConfig, decodeEvent, encodeEntityConfig, encodeEvent } from '../../src/wire/protobuf-codec.ts';
import { validEvents } from '../support/arbitrary-event.ts';

/** Section 5 of the agent wire in the language of another implementation. */
const SCHEMA = `
syntax = "proto3";
message Event {
  int64 timestamp = 1; Entity entity = 2; Check check = 3; Metrics metrics = 4; ObjectMeta metadata = 5; bytes id = 6;
  int64 sequence = 7; repeated ResourceReference pipelines = 8;
}
message Entity {
  string entity_class = 1; System system = 3; repeated string subscriptions = 4; int64 last_seen = 5; bool deregister = 6;
  Deregistration deregistration = 7; string user = 11; bytes extended_attributes = 12; repeated string redact = 13;
  ObjectMeta metadata = 14; string sensu_agent_version = 15; repeated string keepalive_handlers = 16;
}
message EntityConfig {
  ObjectMeta metadata = 1; string entity_class = 2; string user = 3; repeated string subscriptions = 4;
  bool deregister = 5; Deregistration deregistration = 6; repeated string keepalive_handlers = 7; repeated string redact = 8;
}
message Deregistration { string handler = 1; }
message System {
  string hostname = 1; string os = 2; string platform = 3; string platform_family = 4; string platform_version = 5;
  Network network = 6; string arch = 7; int32 arm_version = 8; string libc_type = 9; string vm_system = 10;
  string vm_role = 11; string cloud_provider = 12; string float_type = 13; repeated Process processes = 14;
}
message Network { repeated NetworkInterface interfaces = 1; }
message NetworkInterface { string name = 1; string mac = 2; repeated string addresses = 3; }
message Process { string name = 1; }
message ObjectMeta {
  string name = 1; string namespace = 2; map<string, string> labels = 3; map<string, string> annotations = 4;
  string created_by = 5;
}
message ResourceReference { string name = 1; string type = 2; string api_version = 3; }
message Metrics { repeated string handlers = 1; repeated MetricPoint points = 2; }
message MetricPoint { string name = 1; double value = 2; int64 timestamp = 3; repeated Pair tags = 4; }
message Pair { string name = 1; string value = 2; }
message CheckHistory { uint32 status = 1; int64 executed = 2; bool flapping = 3; }
message ProxyRequests { repeated string entity_attributes = 1; bool splay = 2; uint32 splay_coverage = 3; }
message HookList { repeated string hooks = 1; string type = 2; }
message HookConfig {
  ObjectMeta metadata = 1; string command = 2; uint32 timeout = 3; bool stdin = 4; repeated string runtime_assets = 5;
}
message Hook {
  HookConfig config = 1; double duration = 2; int64 executed = 3; int64 issued = 4; string output = 5; int32 status = 6;
}
message Secret { string name = 1; string secret = 2; }
message TimeWindowWhen { TimeWindowDays days = 1; }
message TimeWindowDays {
  repeated TimeRange all = 1; repeated TimeRange sunday = 2; repeated TimeRange monday = 3; repeated TimeRange tuesday = 4;
  repeated TimeRange wednesday = 5; repeated TimeRange thursday = 6; repeated TimeRange friday = 7;
  repeated TimeRange saturday = 8;
}
message TimeRange { string begin = 1; string end = 2; }
message TimeWindowRepeated { string begin = 1; string end = 2; repeated string repeat = 3; }
message ThresholdRule { string min = 1; string max = 2; uint32 status = 3; }
message MetricThreshold {
  string name = 1; repeated Pair tags = 2; repeated ThresholdRule thresholds = 3; uint32 null_status = 4;
}
message Check {
  string command = 1; repeated string handlers = 3; uint32 high_flap_threshold = 4; uint32 interval = 5;
  uint32 low_flap_threshold = 6; bool publish = 9; repeated string runtime_assets = 10; repeated string subscriptions = 11;
  string proxy_entity_name = 13; repeated HookList check_hooks = 14; bool stdin = 15; TimeWindowWhen subdue = 16;
  string cron = 17; int64 ttl = 18; uint32 timeout = 19; ProxyRequests proxy_requests = 20; bool round_robin = 21;
  double duration = 22; int64 executed = 23; repeated CheckHistory history = 24; int64 issued = 25; string output = 26;
  string state = 27; uint32 status = 28; uint32 total_state_change = 29; int64 last_ok = 30; int64 occurrences = 31;
  int64 occurrences_watermark = 32; repeated string silenced = 33; repeated Hook hooks = 34;
  string output_metric_format = 35; repeated string output_metric_handlers = 36; repeated string env_vars = 37;
  ObjectMeta metadata = 38; int64 max_output_size = 39; bool discard_output = 40; repeated Secret secrets = 41;
  bool is_silenced = 42; repeated Pair output_metric_tags = 43; string scheduler = 44; string processed_by = 45;
  repeated ResourceReference pipelines = 46; repeated MetricThreshold output_metric_thresholds = 47;
  repeated TimeWindowRepeated subdues = 48; bytes extended_attributes = 99;
}
`;

const { root } = protobuf.parse(SCHEMA, { keepCase: true });
const theirs = (message: string, value: Record<string, unknown>): Buffer => {
  const type = root.lookupType(message);
  return Buffer.from(type.encode(type.fromObject(value)).finish());
};

/** What a member of JSON has in another form than the field. */
function asOnTheWire(event: Event): Record<string, unknown> {
  const { check, id, ...rest } = event;
  if (check === undefined) return { ...rest, id: id === null ? null : Buffer.from(id.replaceAll('-', ''), 'hex') };
  return {
    ...rest,
    id: id === null ? null : Buffer.from(id.replaceAll('-', ''), 'hex'),
    check: {
      ...check,
      check_hooks: check.check_hooks?.map((hooks) => {
        const [[type, names] = ['', null]] = Object.entries(hooks);
        return { type, hooks: names };
      }),
      hooks: check.hooks?.map(({ metadata, command, timeout, stdin, runtime_assets, ...result }) => ({
        ...result,
        config: { metadata, command, timeout, stdin, runtime_assets },
      })),
    },
  };
}

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const texts = fc.array(text, { maxLength: 3 });
const expression = text.map((value) => `entity.user == ${JSON.stringify(value)}`);
const seconds = fc.integer({ min: -(2 ** 40), max: 2 ** 52 });
const uint32 = fc.integer({ min: 0, max: 4_294_967_295 });
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const metadata = fc.record({ name: text, namespace: text, labels: fc.dictionary(text, text) }, { requiredKeys: [] });
const pair = fc.record({ name: text, value: text });
const pairs = fc.array(pair, { maxLength: 2 });
const ranges = fc.array(fc.constant({ begin: '5:00PM', end: '8:00 AM' }), { minLength: 1, maxLength: 2 });

/** What the events of `validEvents` never have. */
const rareOfCheck = fc.record(
  {
    high_flap_threshold: uint32,
    runtime_assets: fc.constant(['a/b', 'c']),
    stdin: fc.boolean(),
    subdue: fc.record({ days: fc.record({ all: ranges, monday: ranges, saturday: ranges }, { requiredKeys: [] }) }),
    proxy_requests: fc.record({
      entity_attributes: fc.array(expression, { maxLength: 2 }),
      splay: fc.constant(true),
      splay_coverage: fc.constant(90),
    }),
    output_metric_format: fc.constant('graphite_plaintext'),
    output_metric_handlers: texts,
    output_metric_tags: pairs,
    output_metric_thresholds: fc.array(
      fc.record({
        name: fc.constant('load'),
        tags: fc.constant([{ name: 'a', value: '' }]),
        thresholds: fc.constant([{ min: '1.5', max: '', status: 1 }]),
        null_status: uint32,
      }),
      { maxLength: 2 },
    ),
    max_output_size: fc.nat(),
    discard_output: fc.boolean(),
    secrets: fc.array(fc.record({ name: text, secret: text }), { maxLength: 2 }),
    pipelines: fc.array(fc.record({ name: text, type: fc.constant('Pipeline'), api_version: fc.constant('core/v2') })),
    subdues: fc.constant([{ begin: '2026-01-01T00:00:00Z', end: '2026-01-01T01:00:00+01:00', repeat: ['daily'] }]),
    state: fc.constantFrom('passing', 'failing', 'flapping'),
    total_state_change: uint32,
    last_ok: seconds,
    occurrences_watermark: seconds,
    executed: seconds,
    hooks: fc.array(
      fc.record({
        metadata,
        command: text,
        timeout: uint32,
        stdin: fc.boolean(),
        runtime_assets: texts,
        duration: double,
        executed: seconds,
        issued: seconds,
        output: text,
        status: fc.integer(),
      }),
      { maxLength: 2 },
    ),
    is_silenced: fc.boolean(),
    scheduler: fc.constantFrom('memory', 'etcd'),
    processed_by: text,
  },
  { requiredKeys: [] },
);

const rareOfEntity = fc.record(
  {
    system: fc.record({
      platform: text,
      platform_family: text,
      platform_version: text,
      network: fc.record({
        interfaces: fc.array(fc.record({ name: text, mac: text, addresses: texts }, { requiredKeys: [] })),
      }),
      arm_version: fc.integer(),
      libc_type: text,
      vm_system: text,
      vm_role: text,
      cloud_provider: text,
      float_type: text,
      processes: fc.array(fc.record({ name: text })),
    }),
    deregistration: fc.record({ handler: text }),
    keepalive_handlers: texts,
    sensu_agent_version: text,
  },
  { requiredKeys: [] },
);

/** A list without items is no list on this wire, so there is none. */
const metrics = fc.record({
  handlers: fc.array(text, { minLength: 1, maxLength: 3 }),
  points: fc.array(
    fc.record(
      { name: text, value: double, timestamp: seconds, tags: fc.array(pair, { minLength: 1, maxLength: 2 }) },
      { requiredKeys: ['value'] },
    ),
    { minLength: 1, maxLength: 3 },
  ),
});

const events = fc.tuple(validEvents, rareOfCheck, rareOfEntity, metrics).map(([event, check, entity, points]) =>
  parseEvent({
    ...event,
    check: { ...(event['check'] as object), ...check },
    entity: { ...(event['entity'] as object), ...entity },
    metrics: points,
  }),
);

describe('another implementation of protobuf', () => {
  it('writes an event in the same bytes, and its bytes are the same event', () => {
    fc.assert(
      fc.property(events, (event) => {
        const bytes = theirs('Event', asOnTheWire(event));
        expect(encodeEvent(event).toString('hex')).to.equal(bytes.toString('hex'));
        const decoded = decodeEvent(bytes);
        expect(decoded).to.deep.equal(event);
        expect(JSON.stringify(decoded)).to.equal(JSON.stringify(event));
      }),
      { numRuns: 150 },
    );
  });

  it('writes an entity configuration in the same bytes, and its bytes are the same configuration', () => {
    fc.assert(
      fc.property(events, ({ entity }) => {
        if (entity === undefined) return;
        const config = configOf(entity);
        const bytes = theirs('EntityConfig', { ...config });
        expect(encodeEntityConfig(config).toString('hex')).to.equal(bytes.toString('hex'));
        expect(decodeEntityConfig(bytes)).to.deep.equal(config);
      }),
    );
  });

  it('may send unknown fields', () => {
    const extended_attributes = Buffer.from('{"a":1}');
    const entity = { entity_class: 'agent', metadata: { name: 'web-01', namespace: 'default' } };
    const check = { interval: 1, metadata: { name: 'disk' }, history: [{ status: 1, executed: 2 }] };
    const sent = {
      entity: { ...entity, extended_attributes },
      check: { ...check, history: [{ status: 1, executed: 2, flapping: true }], extended_attributes },
    };
    expect(decodeEvent(theirs('Event', sent))).to.deep.equal(parseEvent({ entity, check }));
  });
});
