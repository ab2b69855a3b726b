import { expect } from 'chai';
import fc from 'fast-check';
import { parseCheckShape } from '../../src/resources/check.ts';
import { configOf } from '../../src/resources/entity.ts';
import { InvalidResource } from '../../src/resources/errors.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { decodeFrame } from '../../src/wire/frame.ts';
import {
  type CheckRequest,
  decodeCheckRequest,
  decodeEntityConfig,
  decodeEvent,
  encodeJson,
} from '../../src/wire/json-codec.ts';
import { damagedEvents, validEvents } from '../support/arbitrary-event.ts';
import { readGolden } from '../support/golden-file.ts';
import { at } from '../support/json-path.ts';
import { refusalOf } from '../support/refusal.ts';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const EVENT = {
  entity: { entity_class: 'agent', metadata: { name: 'web-01', namespace: 'default' } },
  check: { interval: 10, metadata: { name: 'disk', namespace: 'default' } },
};

interface Transcript {
  transcript: { dir: string; type?: string; note?: string; base64?: string; json?: unknown }[];
}

describe('an event in JSON', () => {
  it('is what it was after encoding and decoding', () => {
    fc.assert(
      fc.property(validEvents, (sent) => {
        const event = parseEvent(sent);
        expect(decodeEvent(Buffer.from(encodeJson(event)))).to.deep.equal(event);
      }),
    );
  });

  it('is decoded from any bytes or refused as a resource', () => {
    const payloads = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc.json().map((text) => Buffer.from(text)),
      damagedEvents.map(bytes),
    );
    fc.assert(
      fc.property(payloads, (payload) => void refusalOf(() => decodeEvent(payload))),
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

  it('with a member in two letter cases counts the exact one, wherever it stands', () => {
    for (const check of [
      { STATUS: 2, status: 1 },
      { status: 1, STATUS: 2 },
    ]) {
      expect(decodeEvent(bytes({ ...EVENT, check: { ...EVENT.check, ...check } })).check?.status).to.equal(1);
    }
  });

  it('keeps the letter case of labels and of what nobody knows', () => {
    const labels = { Site: 'a', site: 'b', METADATA: 'c' };
    const event = decodeEvent(bytes({ ...EVENT, metadata: { labels }, Bogus: { NAME: 1 } }));
    expect(event.metadata.labels).to.deep.equal(labels);
  });

  it('never reaches the prototype of anything', () => {
    const payload =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"check":{"__proto__":{"x":1}}}';
    expect(refusalOf(() => decodeEvent(Buffer.from(payload)))).to.equal('event must contain an entity');
    expect(at({}, 'polluted')).to.equal(undefined);
  });

  it('with bytes that are not UTF-8 keeps what can be read', () => {
    const [before, after] = JSON.stringify({ ...EVENT, check: { ...EVENT.check, output: '|' } }).split('|');
    const payload = Buffer.concat([Buffer.from(before ?? ''), Buffer.from([0x61, 0xff]), Buffer.from(after ?? '')]);
    expect(decodeEvent(payload).check?.output).to.equal('a\ufffd');
  });

  const { transcript } = JSON.parse(readGolden('wire/real-agent/json.json')) as Transcript;
  const sent = transcript.filter(({ dir, base64 }) => dir === 'from-agent' && base64 !== undefined);
  for (const [index, { type, note, base64 = '' }] of sent.entries()) {
    it(`as a real agent sent it is read and written again the same: ${type} ${index + 1}${note === undefined ? '' : `, ${note}`}`, () => {
      const frame = decodeFrame(Buffer.from(base64, 'base64'));
      expect(frame.type).to.equal(type);
      const rendered: unknown = JSON.parse(encodeJson(decodeEvent(frame.payload)));
      expect(rendered).to.deep.equal(JSON.parse(frame.payload.toString()));
    });
  }
});

describe('a check request in JSON', () => {
  const config = parseCheckShape({ command: 'true', interval: 60, metadata: { name: 'disk', namespace: 'default' } });
  const request: CheckRequest = { config, assets: null, hooks: null, issued: 1_767_268_830, hook_assets: {} };

  it('is what it was after encoding and decoding', () => {
    expect(decodeCheckRequest(Buffer.from(encodeJson(request)))).to.deep.equal(request);
  });

  it('may hold a check that breaks a rule: the agent answers it', () => {
    const decoded = decodeCheckRequest(bytes({ config: { metadata: { name: 'disk' } } }));
    expect([decoded.config.interval, decoded.issued]).to.deep.equal([0, 0]);
  });

  it('keeps its assets and hooks as they are', () => {
    const assets = [{ url: 'https://assets.example/x.tar.gz' }];
    const hooks = [{ command: 'ps', metadata: { name: 'ps' } }];
    const decoded = decodeCheckRequest(bytes({ config: {}, assets, hooks, hook_assets: {} }));
    expect([decoded.assets, decoded.hooks]).to.deep.equal([assets, hooks]);
  });

  for (const payload of [
    '',
    'null',
    '[]',
    '5',
    '{}',
    '{"config":null}',
    '{"config":{},"issued":1.5}',
    '{"config":[]}',
  ]) {
    it(`is not ${payload === '' ? 'nothing' : payload}`, () => {
      expect(() => decodeCheckRequest(Buffer.from(payload))).to.throw(InvalidResource);
    });
  }

  it('is decoded from any JSON or refused as a resource', () => {
    const payloads = fc.record({ config: fc.jsonValue(), issued: fc.jsonValue(), assets: fc.jsonValue() });
    fc.assert(fc.property(payloads, (payload) => void refusalOf(() => decodeCheckRequest(bytes(payload)))));
  });
});

describe('an entity configuration in JSON', () => {
  it('is what it was after encoding and decoding', () => {
    fc.assert(
      fc.property(validEvents, (sent) => {
        const { entity } = parseEvent(sent);
        if (entity === undefined) return;
        const config = configOf(entity);
        expect(decodeEntityConfig(Buffer.from(encodeJson(config)))).to.deep.equal(config);
      }),
    );
  });

  it('tells an agent that the backend knows nothing of it', () => {
    const sentinel = decodeEntityConfig(
      bytes({ metadata: { name: 'not found', namespace: 'default' }, entity_class: 'agent' }),
    );
    expect(encodeJson(sentinel)).to.equal(
      '{"metadata":{"name":"not found","namespace":"default"},"entity_class":"agent","subscriptions":null,' +
        '"deregister":false,"deregistration":{}}',
    );
  });

  it('is decoded from any JSON or refused as a resource', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void refusalOf(() => decodeEntityConfig(bytes(value)))));
  });
});
