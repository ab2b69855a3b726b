import { expect } from 'chai';
import fc from 'fast-check';
import { blankEventCheck, eventCheckWithDefaults, parseEvent, parseEventShape } from '../../src/resources/event.ts';
import { damagedEvents, validEvents } from '../support/arbitrary-event.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const ENTITY = { entity_class: 'proxy', metadata: { name: 'db1', namespace: 'default' } };
const CHECK = { interval: 30, metadata: { name: 'disk', namespace: 'default' } };
const EVENT = { entity: ENTITY, check: CHECK };

const entityWith = (fields: object) => ({ ...EVENT, entity: { ...ENTITY, ...fields } });
const checkWith = (fields: object) => ({ ...EVENT, check: { ...CHECK, ...fields } });
const thresholdWith = (fields: object) =>
  checkWith({ output_metric_thresholds: [{ name: 'x', thresholds: [{ min: '1', status: 1 }], ...fields }] });

describe('an event', () => {
  const refused: [string, object, string][] = [
    ['without an entity', { check: CHECK }, 'event must contain an entity'],
    ['with neither check nor metrics', { entity: ENTITY }, 'event must contain a check or metrics'],
    [
      'when its entity has no name',
      entityWith({ metadata: { namespace: 'default' } }),
      'entity is invalid: entity name must not be empty',
    ],
    [
      'when its entity has a name with a space',
      entityWith({ metadata: { name: 'a b', namespace: 'default' } }),
      'entity is invalid: entity name cannot contain spaces or special characters',
    ],
    [
      'when its entity has no class',
      entityWith({ entity_class: '' }),
      'entity is invalid: entity class must not be empty',
    ],
    [
      'when its entity has a class with a space',
      entityWith({ entity_class: 'a b' }),
      'entity is invalid: entity class cannot contain spaces or special characters',
    ],
    [
      'when its entity has no namespace',
      entityWith({ metadata: { name: 'db1' } }),
      'entity is invalid: namespace must be set',
    ],
    ['when its check has no name', checkWith({ metadata: {} }), 'check is invalid: check name must not be empty'],
    [
      'when its check has a name with a slash',
      checkWith({ metadata: { name: 'a/b' } }),
      'check is invalid: check name cannot contain spaces or special characters',
    ],
    [
      'of a published check with both schedules',
      checkWith({ publish: true, cron: '* * * * *' }),
      'check is invalid: must only specify either an interval or a cron schedule',
    ],
    [
      'of a published check with a bad cron',
      checkWith({ publish: true, interval: 0, cron: 'nope' }),
      'check is invalid: check cron string is invalid: expected exactly 5 fields, found 1: [nope]',
    ],
    [
      'of a published check without a schedule',
      checkWith({ publish: true, interval: 0 }),
      'check is invalid: check interval must be greater than or equal to 1',
    ],
    [
      'with a ttl not above the interval',
      checkWith({ interval: 60, ttl: 60 }),
      'check is invalid: ttl must be greater than check interval',
    ],
    ['with a ttl of 4 seconds', checkWith({ interval: 1, ttl: 4 }), 'check is invalid: minimum ttl is 5 seconds'],
    [
      'with an asset name that has a space',
      checkWith({ runtime_assets: ['a b'] }),
      "check is invalid: asset's name may only contain letters, forward slashes, underscores, dashes and numbers",
    ],
    [
      'with an asset without a name',
      checkWith({ runtime_assets: [''] }),
      "check is invalid: asset's name cannot be empty",
    ],
    [
      'with an empty subscription',
      checkWith({ subscriptions: [''] }),
      'check is invalid: subscriptions cannot be empty strings',
    ],
    [
      'with a proxy entity name that has a space',
      checkWith({ proxy_entity_name: 'a b' }),
      'check is invalid: proxy entity name cannot contain spaces or special characters',
    ],
    [
      'with a splay coverage above 100',
      checkWith({ proxy_requests: { splay_coverage: 101 } }),
      'check is invalid: proxy request splay coverage must be between 0 and 100',
    ],
    [
      'with a splay of nothing',
      checkWith({ proxy_requests: { splay: true } }),
      'check is invalid: proxy request splay coverage must be greater than 0 if splay is enabled',
    ],
    [
      'with an unknown metric format',
      checkWith({ output_metric_format: 'csv' }),
      'check is invalid: output metric format is not valid',
    ],
    [
      'with a low flap threshold above the high one',
      checkWith({ low_flap_threshold: 60, high_flap_threshold: 20 }),
      'check is invalid: invalid flap thresholds',
    ],
    [
      'with equal flap thresholds',
      checkWith({ low_flap_threshold: 20, high_flap_threshold: 20 }),
      'check is invalid: invalid flap thresholds',
    ],
    ...['NOPE', '=x', 'A='].map((variable): [string, object, string] => [
      `with the environment variable "${variable}"`,
      checkWith({ env_vars: [variable] }),
      'check is invalid: environment variables must be of the form FOO=BAR',
    ]),
    [
      'with a negative output limit',
      checkWith({ max_output_size: -1 }),
      'check is invalid: MaxOutputSize must be >= 0',
    ],
    [
      'with a nameless metric threshold',
      thresholdWith({ name: '' }),
      'check is invalid: invalid metric threshold 0: metric threshold name must not be empty',
    ],
    [
      'with a metric threshold without rules',
      thresholdWith({ thresholds: [] }),
      'check is invalid: invalid metric threshold 0: there must be at least one threshold rule',
    ],
    [
      'with a metric rule without bounds',
      thresholdWith({ thresholds: [{ status: 1 }] }),
      'check is invalid: invalid metric threshold 0: rule 0: One of Min or Max required',
    ],
    [
      'with a metric rule whose minimum is no number',
      thresholdWith({ thresholds: [{ min: 'a' }] }),
      'check is invalid: invalid metric threshold 0: rule 0: Min must be a floating point number',
    ],
    [
      'with a metric rule whose maximum is no number',
      thresholdWith({ thresholds: [{ min: '1', max: 'b' }] }),
      'check is invalid: invalid metric threshold 0: rule 0: Max but be a floating point number',
    ],
    [
      'with a nameless tag in a metric threshold',
      thresholdWith({ tags: [{ name: '', value: 'v' }] }),
      'check is invalid: invalid metric threshold 0: tag 0: metric threshold tag name must not be empty',
    ],
    [
      'with a window that ends before it begins',
      checkWith({ subdues: [{ begin: '2020-01-02T00:00:00Z', end: '2020-01-01T00:00:00Z' }] }),
      'check is invalid: subdue 0 invalid: end time must be after begin time',
    ],
    [
      'with a window repeated at unknown periods',
      checkWith({ subdues: [{ begin: '2020-01-01T00:00:00Z', end: '2020-01-01T00:00:01Z', repeat: ['Daily'] }] }),
      'check is invalid: subdue 0 invalid: invalid repeat period: Daily',
    ],
    [
      'with a pipeline that is a handler',
      { ...EVENT, pipelines: [{ name: 'p', type: 'Handler', api_version: 'core/v2' }] },
      'pipeline reference is invalid: resource type not capable of acting as a pipeline: core/v2.Handler',
    ],
    [
      'with a pipeline of no kind',
      { ...EVENT, pipelines: [{}] },
      'pipeline reference is invalid: resource type not capable of acting as a pipeline: .',
    ],
    [
      'of a published check that is never due',
      checkWith({ publish: true, interval: 0, cron: '0 0 31 2 *' }),
      'check is invalid: check cron string is invalid: schedule never occurs',
    ],
    [
      'with a label that is a number, whatever its name',
      { ...EVENT, metadata: { labels: { 'a\nb': 5 } } },
      'metadata.labels.a\nb must be string or null',
    ],
    [
      'with hooks that are a text, whatever their type',
      checkWith({ check_hooks: [{ 'a\nb': 'x' }] }),
      'check.check_hooks.0.a\nb must be array or null',
    ],
    ['with a name of its own', { ...EVENT, metadata: { name: 'x' } }, 'events cannot be named'],
    ['with an id that is not a UUID', { ...EVENT, id: 'not-a-uuid' }, 'invalid event id: invalid UUID length: 10'],
    [
      'with an id that is nearly a UUID',
      { ...EVENT, id: '5b0f8a0e-6a44-4d3b-9d52-0c8f1f6f2a1x' },
      'invalid event id: invalid UUID format',
    ],
  ];
  for (const [what, event, message] of refused) {
    it(`is rejected ${what}: ${message}`, () => {
      expect(validationErrorOf(() => parseEvent(event))).to.equal(message);
    });
  }

  const accepted: [string, object][] = [
    ['of an unpublished check that is never due', checkWith({ interval: 0, cron: '0 0 31 2 *' })],
    ['without a timestamp', EVENT],
    ['without a namespace of its check', checkWith({ metadata: { name: 'disk' } })],
    ['of an unpublished check without a schedule', checkWith({ interval: 0 })],
    ['of an unpublished check with both schedules and a bad cron', checkWith({ cron: 'nope' })],
    ['with a ttl of -1', checkWith({ interval: 1, ttl: -1 })],
    ['with a status above 3', checkWith({ status: 4_294_967_295 })],
    ['with an unknown state', checkWith({ state: 'weird' })],
    ['with one flap threshold', checkWith({ low_flap_threshold: 60 })],
    ['with metrics only', { entity: ENTITY, metrics: { handlers: ['i'], points: [{ name: 'n', value: 1.5 }] } }],
    ['with an empty id', { ...EVENT, id: '' }],
    ['with unknown members', { ...EVENT, bogus: { a: 1 } }],
    ['with a name of 250 letters', checkWith({ metadata: { name: 'n'.repeat(250) } })],
    ['with a metric rule whose minimum is above its maximum', thresholdWith({ thresholds: [{ min: '5', max: '1' }] })],
  ];
  for (const [what, event] of accepted) {
    it(`is accepted ${what}`, () => {
      expect(validationErrorOf(() => parseEvent(event))).to.equal(undefined);
    });
  }

  const wrongTypes: [string, object][] = [
    ['a status given as text', checkWith({ status: '2' })],
    ['a negative status', checkWith({ status: -1 })],
    ['a status beyond 32 bits', checkWith({ status: 4_294_967_296 })],
    ['a fractional interval', checkWith({ interval: 1.5 })],
    ['the status of a hook beyond 32 bits', checkWith({ hooks: [{ status: 2_147_483_648 }] })],
    ['an arm_version beyond 32 bits', entityWith({ system: { arm_version: -2_147_483_649 } })],
    ['an execution time beyond 64 bits', checkWith({ executed: 1e19 })],
    ['a timestamp beyond 64 bits', { ...EVENT, timestamp: -1e19 }],
    ['an output that is a number', checkWith({ output: 5 })],
    ['a list for an entity', { ...EVENT, entity: [] }],
    ['handlers given as text', checkWith({ handlers: 'x' })],
    ['a label that is a number', entityWith({ metadata: { name: 'db1', namespace: 'default', labels: { a: 1 } } })],
  ];
  for (const [what, event] of wrongTypes) {
    it(`is rejected with ${what}`, () => {
      expect(validationErrorOf(() => parseEvent(event))).to.be.a('string');
    });
  }

  it('is rendered as clients expect', () => {
    const event = parseEvent({
      entity: ENTITY,
      check: { ...CHECK, status: 1, output: '87%', handlers: ['chat'] },
      timestamp: 1_700_000_000,
      id: '5b0f8a0e-6a44-4d3b-9d52-0c8f1f6f2a11',
    });
    expect(JSON.stringify(event)).to.equal(
      '{"timestamp":1700000000,"entity":{"entity_class":"proxy","system":{"network":{"interfaces":null},"libc_type":"",' +
        '"vm_system":"","vm_role":"","cloud_provider":"","processes":null},"subscriptions":null,"last_seen":0,' +
        '"deregister":false,"deregistration":{},"metadata":{"name":"db1","namespace":"default"},' +
        '"sensu_agent_version":""},"check":{"handlers":["chat"],"high_flap_threshold":0,"interval":30,' +
        '"low_flap_threshold":0,"publish":false,"runtime_assets":null,"subscriptions":[],"proxy_entity_name":"",' +
        '"check_hooks":null,"stdin":false,"subdue":null,"ttl":0,"timeout":0,"round_robin":false,' +
        '"output_metric_format":"","output_metric_handlers":null,"env_vars":null,' +
        '"metadata":{"name":"disk","namespace":"default"},"secrets":null,"pipelines":[],"executed":0,"history":null,' +
        '"issued":0,"output":"87%","status":1,"total_state_change":0,"last_ok":0,"occurrences":0,' +
        '"occurrences_watermark":0,"is_silenced":false,"scheduler":""},"metadata":{},' +
        '"id":"5b0f8a0e-6a44-4d3b-9d52-0c8f1f6f2a11","sequence":0,"pipelines":null}',
    );
  });

  it('is rendered with timestamp 0 and id null when nothing is set', () => {
    expect(JSON.parse(JSON.stringify(parseEventShape({})))).to.deep.equal({
      timestamp: 0,
      metadata: {},
      id: null,
      sequence: 0,
      pipelines: null,
    });
  });

  for (const [what, id] of [
    ['in capitals', '5B0F8A0E-6A44-4D3B-9D52-0C8F1F6F2A11'],
    ['in braces', '{5b0f8a0e-6a44-4d3b-9d52-0c8f1f6f2a11}'],
    ['as a URN', 'URN:uuid:5b0f8a0e-6a44-4d3b-9d52-0c8f1f6f2a11'],
    ['without hyphens', '5b0f8a0e6a444d3b9d520c8f1f6f2a11'],
  ] as const) {
    it(`has an id in lower case with hyphens when it was sent ${what}`, () => {
      expect(parseEvent({ ...EVENT, id }).id).to.equal('5b0f8a0e-6a44-4d3b-9d52-0c8f1f6f2a11');
    });
  }

  for (const id of ['5b0f8a0e', '{5b0f8a0e6a444d3b9d520c8f1f6f2a11}', 'urn:uuid:x', 'x'.repeat(36)]) {
    it(`is rejected with the id ${id}`, () => {
      expect(validationErrorOf(() => parseEvent({ ...EVENT, id }))).to.match(/^invalid event id: invalid UUID /);
    });
  }

  it('treats __proto__ as an ordinary label', () => {
    const labels = JSON.parse('{"__proto__":"x"}') as object;
    const event = parseEvent(entityWith({ metadata: { name: 'db1', namespace: 'default', labels } }));
    expect(JSON.stringify(event.entity?.metadata.labels)).to.equal('{"__proto__":"x"}');
  });

  it('is accepted if it follows every rule, and stays the same when it is parsed again', () => {
    fc.assert(
      fc.property(validEvents, (sent) => {
        const event = parseEvent(sent);
        expect(parseEvent(JSON.parse(JSON.stringify(event)))).to.deep.equal(event);
      }),
    );
  });

  it('is accepted or rejected with InvalidResource, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), damagedEvents), (value) => void validationErrorOf(() => parseEvent(value))),
      {
        numRuns: 1_000,
      },
    );
  });
});

describe('a blank check of an event', () => {
  it('has all defaults, in their order', () => {
    expect(blankEventCheck()).to.deep.equal(eventCheckWithDefaults({}));
    expect(Object.keys(blankEventCheck())).to.deep.equal(Object.keys(eventCheckWithDefaults({})));
  });

  it('shares no list and no object with another one', () => {
    const other = new Set<unknown>(Object.values(blankEventCheck()).filter((value) => value instanceof Object));
    expect(other).to.have.property('size').that.is.above(0);
    expect(Object.values(blankEventCheck()).filter((value) => other.has(value))).to.deep.equal([]);
  });
});
