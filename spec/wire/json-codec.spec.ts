import { expect } from 'chai';
import fc from 'fast-check';
import { configOf } from '../../src/resources/entity.ts';
import { InvalidResource } from '../../src/resources/errors.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { decodeCheckRequest, decodeEntityConfig, decodeEvent, encodeJson } from '../../src/wire/json-codec.ts';
import { damagedEvents, validEvents } from '../support/arbitrary-event.ts';
import { readGolden } from '../support/golden-file.ts';
import { at } from '../support/json-path.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const EVENT = {
  entity: { entity_class: 'agent', metadata: { name: 'web-01', namespace: 'default' } },
  check: { interval: 10, metadata: { name: 'disk', namespace: 'default' } },
};

interface Transcript {
  transcript: { dir: string; type?: string; note?: string; json?: unknown }[];
}

const KINDS: Record<string, unknown> = {
  '<unix>': 1_767_268_800,
  '<number>': 0.25,
  '<any>': null,
  '<uuid>': '6f2b1c1e-8f0a-4d6b-9a57-0c6d3f0e1a22',
};

/** What the recording does not say to the digit. */
const anyOfItsKind = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && Object.hasOwn(KINDS, value) ? KINDS[value] : value;

/** An empty list and none are the same. */
const emptyAsNull = (_name: string, value: unknown): unknown =>
  Array.isArray(value) && value.length === 0 ? null : value;

describe('an event in JSON', () => {
  it('is unchanged by encoding and decoding', () => {
    fc.assert(
      fc.property(validEvents, (sent) => {
        const event = parseEvent(sent);
        expect(decodeEvent(Buffer.from(encodeJson(event)))).to.deep.equal(event);
      }),
    );
  });

  it('is decoded from any bytes or throws InvalidResource', () => {
    const payloads = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc.json().map((text) => Buffer.from(text)),
      damagedEvents.map(bytes),
    );
    fc.assert(
      fc.property(payloads, (payload) => void validationErrorOf(() => decodeEvent(payload))),
      { numRuns: 500 },
    );
  });

  const garbage: [string, string][] = [
    ['nothing', ''],
    ['a cut object', '{"entity":'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['a list', '[]'],
    ['an empty object', '{}'],
    ['two values', `${JSON.stringify(EVENT)}${JSON.stringify(EVENT)}`],
    ['a million lists in each other', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`],
    ['bytes of no alphabet', '\u0000\u0001'],
  ];
  for (const [what, payload] of garbage) {
    it(`is not ${what}`, () => {
      expect(() => decodeEvent(Buffer.from(payload))).to.throw(InvalidResource);
    });
  }

  it('has members in any letter case', () => {
    const event = decodeEvent(
      bytes({
        ENTITY: { Entity_Class: 'agent', MetaData: { Name: 'web-01', nameSpace: 'default' } },
        Check: { Interval: 10, STATUS: 2, metadata: { NAME: 'disk' }, History: [{ Status: 1, EXECUTED: 5 }] },
      }),
    );
    expect(event.entity?.metadata.name).to.equal('web-01');
    expect(event.check?.status).to.equal(2);
    expect(event.check?.history).to.deep.equal([{ status: 1, executed: 5 }]);
  });

  it('prefers the exact name of a member in two letter cases, wherever it stands', () => {
    for (const check of [
      { STATUS: 2, status: 1 },
      { status: 1, STATUS: 2 },
    ]) {
      expect(decodeEvent(bytes({ ...EVENT, check: { ...EVENT.check, ...check } })).check?.status).to.equal(1);
    }
  });

  it('keeps the letter case of labels and unknown members', () => {
    const labels = { Site: 'a', site: 'b', METADATA: 'c' };
    const event = decodeEvent(bytes({ ...EVENT, metadata: { labels }, Bogus: { NAME: 1 } }));
    expect(event.metadata.labels).to.deep.equal(labels);
  });

  it('never changes a prototype', () => {
    const payload =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"check":{"__proto__":{"x":1}}}';
    expect(validationErrorOf(() => decodeEvent(Buffer.from(payload)))).to.equal('event must contain an entity');
    expect(at({}, 'polluted')).to.equal(undefined);
  });

  it('keeps the readable part of bytes that are not UTF-8', () => {
    const [before, after] = JSON.stringify({ ...EVENT, check: { ...EVENT.check, output: '|' } }).split('|');
    const payload = Buffer.concat([Buffer.from(before ?? ''), Buffer.from([0x61, 0xff]), Buffer.from(after ?? '')]);
    expect(decodeEvent(payload).check?.output).to.equal('a\ufffd');
  });

  const { transcript } = JSON.parse(readGolden('wire/real-agent/json.json'), anyOfItsKind) as Transcript;
  for (const [index, { dir, type, note, json }] of transcript.entries()) {
    if (dir !== 'from-agent') continue;
    it(`as a real agent sent it is read and written again the same: ${type} ${index}, ${note ?? ''}`, () => {
      const refusal = validationErrorOf(() => decodeEvent(bytes(json)));
      if (refusal !== undefined) {
        expect(refusal).to.match(/^check is invalid: check (name cannot contain|interval must be)/);
        return;
      }
      const rendered: unknown = JSON.parse(encodeJson(decodeEvent(bytes(json))), emptyAsNull);
      expect(rendered).to.deep.equal(JSON.parse(JSON.stringify(json), emptyAsNull));
    });
  }
});

describe('a check request in JSON', () => {
  it('may contain an invalid check, which the agent reports', () => {
    const decoded = decodeCheckRequest(bytes({ config: { metadata: { name: 'disk' } } }));
    expect([decoded.config.interval, decoded.issued]).to.deep.equal([0, 0]);
  });

  it('has members in any letter case, and names of hooks as they are', () => {
    const decoded = decodeCheckRequest(
      bytes({
        Config: { Scheduler: 'memory', METADATA: { name: 'disk' } },
        HOOKS: [{ Command: 'ps' }],
        Hook_Assets: { PS: { Assets: [{ URL: 'https://assets.example/x', Builds: [{ SHA512: 'ab' }] }] } },
      }),
    );
    expect([decoded.config.scheduler, decoded.config.metadata.name]).to.deep.equal(['memory', 'disk']);
    expect(decoded.hooks?.[0]?.command).to.equal('ps');
    const [asset] = decoded.hook_assets['PS']?.assets ?? [];
    expect([asset?.url, asset?.builds?.[0]?.sha512]).to.deep.equal(['https://assets.example/x', 'ab']);
  });

  const refused: [string, string][] = [
    ['', 'unexpected end of JSON input'],
    ['null', 'body must be object'],
    ['[]', 'body must be object'],
    ['{}', 'check request config must be an object'],
    ['{"config":null}', 'check request config must be an object'],
    ['{"config":[]}', 'config must be object or null'],
    ['{"config":{"ttl":"x"}}', 'config.ttl must be integer or null'],
    ['{"config":{},"issued":1.5}', 'issued must be integer or null'],
    ['{"config":{},"assets":{}}', 'assets must be array or null'],
    ['{"config":{},"assets":["x"]}', 'assets.0 must be object'],
    ['{"config":{},"assets":[{"builds":[{"url":5}]}]}', 'assets.0.builds.0.url must be string or null'],
    ['{"config":{},"hooks":[{"timeout":-1}]}', 'hooks.0.timeout must be >= 0'],
    ['{"config":{},"hook_assets":{"a\\nb":5}}', 'hook_assets.a\nb must be object or null'],
    ['{"config":{},"hook_assets":{"ps":{"assets":"x"}}}', 'hook_assets.ps.assets must be array or null'],
    ['{"config":{},"secrets":[5]}', 'secrets.0 must be string or null'],
  ];
  for (const [payload, message] of refused) {
    it(`is not ${payload === '' ? 'nothing' : payload}: ${message}`, () => {
      expect(validationErrorOf(() => decodeCheckRequest(Buffer.from(payload)))).to.equal(message);
    });
  }

  it('is decoded from any JSON or throws InvalidResource', () => {
    const anything = fc.jsonValue();
    const payloads = fc.record(
      {
        config: anything,
        issued: anything,
        assets: anything,
        hooks: anything,
        hook_assets: anything,
        secrets: anything,
      },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(payloads, (payload) => void validationErrorOf(() => decodeCheckRequest(bytes(payload)))));
  });
});

describe('an entity configuration in JSON', () => {
  it('is unchanged by encoding and decoding', () => {
    fc.assert(
      fc.property(validEvents, (sent) => {
        const { entity } = parseEvent(sent);
        if (entity === undefined) return;
        const config = configOf(entity);
        expect(decodeEntityConfig(Buffer.from(encodeJson(config)))).to.deep.equal(config);
      }),
    );
  });

  it('informs an agent that its entity is not stored', () => {
    const sentinel = decodeEntityConfig(
      bytes({ metadata: { name: 'not found', namespace: 'default' }, entity_class: 'agent' }),
    );
    expect(encodeJson(sentinel)).to.equal(
      '{"metadata":{"name":"not found","namespace":"default"},"entity_class":"agent","subscriptions":null,' +
        '"deregister":false,"deregistration":{}}',
    );
  });

  it('is decoded from any JSON or throws InvalidResource', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void validationErrorOf(() => decodeEntityConfig(bytes(value)))));
  });
});
