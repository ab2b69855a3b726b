import { expect } from 'chai';
import fc from 'fast-check';
import { configOf, parseEntityConfig } from '../../src/resources/entity.ts';
import { InvalidResource } from '../../src/resources/errors.ts';
import { type Event, parseEvent } from '../../src/resources/event.ts';
import { listOrNull } from '../../src/resources/schema.ts';
import { decodeFrame } from '../../src/wire/frame.ts';
import { parseCheckRequest } from '../../src/wire/check-request.ts';
import {
  decodeCheckRequest as decodeJsonRequest,
  decodeEvent as decodeJson,
  encodeJson,
} from '../../src/wire/json-codec.ts';
import {
  decodeCheckRequest,
  decodeEntityConfig,
  decodeEvent,
  encodeCheckRequest,
  encodeEntityConfig,
  encodeEvent,
} from '../../src/wire/protobuf-codec.ts';
import { checkRequestMessage, entityConfigMessage, eventMessage } from '../../src/wire/protobuf-messages.ts';
import { MalformedProtobuf } from '../../src/wire/protobuf-reader.ts';
import { FIXED32, FIXED64, LENGTH, type Message, VARINT } from '../../src/wire/protobuf-table.ts';
import { validEvents } from '../support/arbitrary-event.ts';
import { readGolden } from '../support/golden-file.ts';
import { difference } from '../support/golden-match.ts';
import { at } from '../support/json-path.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const SENTINEL = '0a140a096e6f7420666f756e64120764656661756c7412056167656e743200';
const REQUEST =
  '0a2f0a10636865636b2d6469736b202d77203830283c48015a056c696e7578d2010f0a046469736b120764656661756c7420dec3d9ca06';
const KEEPALIVE =
  '08c0c3d9ca0612510a056167656e741a180a067765622d303112056c696e757832003a05616d64363422056c696e757828c0c3d9ca063a005a05' +
  '6167656e7472110a067765622d3031120764656661756c747a05362e392e321a1c2814980178b202140a096b656570616c697665120764656661' +
  '756c742a09120764656661756c7432106f2b1c1e8f0a4d6b9a570c6d3f0e1a223801';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** A field of wire type 2: one of a number below 16, of less than 128 bytes, takes a byte for each. */
function field(number: number, content: string | Uint8Array): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return Buffer.concat([varint(number * 8 + LENGTH), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

const number = (of: number, value: number) => Buffer.concat([varint(of * 8 + VARINT), varint(value)]);
const META = Buffer.concat([field(1, 'web-01'), field(2, 'default')]);
const ENTITY = Buffer.concat([field(1, 'agent'), field(14, META)]);
const CHECK = Buffer.concat([field(38, field(1, 'disk'))]);

/** An event with these bytes besides a valid entity and, after it, a valid check. */
const eventWith = ({ check = '', entity = '', event = '' }: Record<string, Uint8Array | string>): Buffer =>
  Buffer.concat([
    field(2, Buffer.concat([ENTITY, Buffer.from(entity)])),
    field(3, Buffer.concat([number(5, 10), CHECK, Buffer.from(check)])),
    Buffer.from(event),
  ]);

interface Recorded {
  dir: string;
  type?: string;
  note?: string;
  base64?: string;
  json?: Record<string, unknown>;
}

const { transcript } = JSON.parse(readGolden('wire/real-agent/protobuf.json')) as { transcript: Recorded[] };
const frames = transcript.filter(({ base64 }) => base64 !== undefined);
const payloadOf = ({ base64 = '' }: Recorded): Buffer => decodeFrame(Buffer.from(base64, 'base64')).payload;

/** Recorded hooks are as on the wire; in JSON the members of their configuration stand beside the others. */
function asJson(recorded: Record<string, unknown> = {}): Record<string, unknown> {
  const hooks = at(recorded, 'check', 'hooks') as { config: object }[] | undefined;
  if (hooks === undefined) return recorded;
  return {
    ...recorded,
    check: { ...(recorded['check'] as object), hooks: hooks.map(({ config, ...rest }) => ({ ...config, ...rest })) },
  };
}

/** The recording was read by `JSON`, which rounds. */
const asRecorded = (event: Event): unknown => JSON.parse(encodeJson(event));

/** On this wire a list without items is no list; in JSON the lists of metrics may be both. */
function withoutEmptyMetricLists(event: Event): Event {
  const { metrics } = event;
  if (metrics === undefined) return event;
  const points = listOrNull(metrics.points)?.map((point) => ({ ...point, tags: listOrNull(point.tags) })) ?? null;
  return { ...event, metrics: { handlers: listOrNull(metrics.handlers), points } };
}

describe('an event in protobuf', () => {
  it('case 17: of 150 bytes decodes to its keepalive and encodes to the same bytes', () => {
    const event = decodeEvent(hex(KEEPALIVE));
    expect(event).to.deep.equal(
      parseEvent({
        timestamp: 1_767_268_800,
        entity: {
          entity_class: 'agent',
          system: { hostname: 'web-01', os: 'linux', arch: 'amd64' },
          subscriptions: ['linux'],
          last_seen: 1_767_268_800,
          user: 'agent',
          metadata: { name: 'web-01', namespace: 'default' },
          sensu_agent_version: '6.9.2',
        },
        check: { interval: 20, timeout: 120, metadata: { name: 'keepalive', namespace: 'default' } },
        metadata: { namespace: 'default' },
        id: '6f2b1c1e-8f0a-4d6b-9a57-0c6d3f0e1a22',
        sequence: 1,
      }),
    );
    expect(encodeEvent(event).toString('hex')).to.equal(KEEPALIVE);
  });

  it('is unchanged by encoding and decoding, member for member in the same order', () => {
    fc.assert(
      fc.property(validEvents, (sent) => {
        const event = withoutEmptyMetricLists(parseEvent(sent));
        const decoded = decodeEvent(encodeEvent(event));
        expect(decoded).to.deep.equal(event);
        expect(Object.keys(decoded.check ?? {})).to.deep.equal(Object.keys(event.check ?? {}));
      }),
    );
  });

  for (const [index, recorded] of frames.entries()) {
    if (recorded.dir !== 'from-agent') continue;
    it(`as a real agent sent it is read and written again the same: ${recorded.type} ${index}, ${recorded.note ?? ''}`, () => {
      const payload = payloadOf(recorded);
      const refusal = validationErrorOf(() => decodeEvent(payload));
      if (refusal !== undefined) {
        expect(refusal).to.match(/^check is invalid: check (name cannot contain|interval must be)/);
        return;
      }
      const event = decodeEvent(payload);
      expect(difference(asJson(recorded.json), asRecorded(event))).to.equal(undefined);
      expect(decodeJson(Buffer.from(encodeJson(event)))).to.deep.equal(event);
      // U+FFFD takes other bytes than what it stands for.
      if (event.check?.metadata.name !== 'utf8')
        expect(encodeEvent(event).toString('hex')).to.equal(payload.toString('hex'));
    });
  }

  it('keeps the readable part of an output that is not UTF-8', () => {
    const output = Buffer.from([0x61, 0xff, 0xfe, 0x62, 0xe2, 0x82]);
    expect(decodeEvent(eventWith({ check: field(26, output) })).check?.output).to.equal('a\ufffd\ufffdb\ufffd');
    const long = Buffer.concat([Buffer.alloc(1_000, 'x'), output]);
    expect(decodeEvent(eventWith({ check: field(26, long) })).check?.output).to.have.length(1_005);
  });

  it('has texts of any length and alphabet', () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 60 }).map((text) => Buffer.from(text).toString()));
    fc.assert(
      fc.property(texts, (silenced) => {
        const sent = parseEvent({
          entity: { entity_class: 'agent', metadata: { name: 'a', namespace: 'b' } },
          check: { interval: 1, metadata: { name: 'c' }, silenced, output: silenced.join('') },
        });
        expect(decodeEvent(encodeEvent(sent))).to.deep.equal(sent);
      }),
    );
  });

  it('is written as UTF-8 even if a text contains a lone surrogate', () => {
    const event = decodeEvent(eventWith({}));
    if (event.check !== undefined) event.check.output = 'a\ud800b';
    expect(decodeEvent(encodeEvent(event)).check?.output).to.equal('a\ufffdb');
  });

  const wholeNumbers: [number, string][] = [
    [-1, 'ffffffffffffffffff01'],
    [-62_135_596_800, '8092b8c398feffffff01'],
    [2 ** 31, '8080808008'],
    [2 ** 32, '8080808010'],
    [2 ** 53 - 1, 'ffffffffffffff0f'],
    [-(2 ** 63), '80808080808080808001'],
    [2 ** 63, 'ffffffffffffffff7f'],
  ];
  for (const [value, bytes] of wholeNumbers) {
    it(`has the time ${value} in ${bytes.length / 2} bytes`, () => {
      const event = decodeEvent(eventWith({ check: Buffer.concat([hex('b801'), hex(bytes)]) }));
      expect(event.check?.executed).to.equal(value);
      expect(encodeEvent(event).toString('hex')).to.contain(`b801${bytes}`);
    });
  }

  it('keeps only the low 32 bits of a status', () => {
    const status = Buffer.concat([hex('e001'), hex('ffffffffffffffffff01')]);
    expect(decodeEvent(eventWith({ check: status })).check?.status).to.equal(4_294_967_295);
  });

  it('accepts an overlong varint of up to ten bytes', () => {
    expect(decodeEvent(eventWith({ check: hex('e00181808080808080808000') })).check?.status).to.equal(1);
  });

  it('uses the last occurrence of a value, even zero', () => {
    const { check } = decodeEvent(
      eventWith({ check: Buffer.concat([field(26, 'a'), field(1, 'x'), field(26, 'b'), field(1, '')]) }),
    );
    expect([check?.output, check?.command]).to.deep.equal(['b', undefined]);
  });

  it('merges the occurrences of a message', () => {
    const event = decodeEvent(
      Buffer.concat([
        eventWith({}),
        field(2, Buffer.concat([field(4, 'linux'), field(14, field(5, 'admin')), field(3, field(1, 'host'))])),
        field(3, Buffer.concat([field(38, field(2, 'other')), field(26, 'text')])),
        field(2, Buffer.concat([field(4, 'web'), field(3, field(2, 'linux')), field(14, field(1, 'web-02'))])),
      ]),
    );
    expect(event.entity?.metadata).to.include({ name: 'web-02', namespace: 'default', created_by: 'admin' });
    expect(event.entity?.subscriptions).to.deep.equal(['linux', 'web']);
    expect(event.entity?.system).to.include({ hostname: 'host', os: 'linux' });
    expect(event.check).to.include({ interval: 10, output: 'text' });
    expect(event.check?.metadata).to.include({ name: 'disk', namespace: 'other' });
  });

  it('skips unknown fields at every depth', () => {
    const unknown = Buffer.concat([
      hex('a00680808080808080808001'),
      hex('a1060102030405060708'),
      field(100, 'anything'),
      hex('a50601020304'),
      hex('f8ffffff0f01'),
    ]);
    const plain = decodeEvent(eventWith({ check: field(24, number(1, 2)) }));
    const check = Buffer.concat([field(24, Buffer.concat([unknown, number(1, 2), unknown])), unknown]);
    expect(decodeEvent(eventWith({ check, entity: unknown, event: unknown }))).to.deep.equal(plain);
  });

  it('keeps labels of any name without changing a prototype', () => {
    const entry = (key: string, value: string) => field(3, Buffer.concat([field(1, key), field(2, value)]));
    const labels = Buffer.concat([
      entry('__proto__', 'x'),
      entry('constructor', 'y'),
      entry('a', '1'),
      entry('a', '2'),
    ]);
    const event = decodeEvent(eventWith({ entity: field(14, labels), event: field(5, field(3, Buffer.alloc(0))) }));
    const kept = event.entity?.metadata.labels ?? {};
    expect(Object.entries(kept)).to.deep.equal([
      ['__proto__', 'x'],
      ['constructor', 'y'],
      ['a', '2'],
    ]);
    expect(event.metadata.labels).to.deep.equal({ '': '' });
    expect(Object.getPrototypeOf(kept)).to.equal(Object.prototype);
    expect(decodeEvent(encodeEvent(event))).to.deep.equal(event);
    const hooks = decodeEvent(eventWith({ check: field(14, Buffer.concat([field(1, 'h'), field(2, '__proto__')])) }));
    expect(Object.entries(hooks.check?.check_hooks?.[0] ?? {})).to.deep.equal([['__proto__', ['h']]]);
  });

  it('omits values that are not finite', () => {
    const point = (name: string, value: number) => {
      const bytes = Buffer.alloc(9, 0x11);
      bytes.writeDoubleLE(value, 1);
      return field(2, Buffer.concat([field(1, name), bytes]));
    };
    const duration = hex('b101000000000000f07f');
    const points = [point('nan', Number.NaN), point('inf', Infinity), point('one', 1), point('zero', 0)];
    const event = decodeEvent(eventWith({ check: duration, event: field(4, Buffer.concat(points)) }));
    expect(event.metrics?.points?.map(({ name, value }) => [name, value])).to.deep.equal([
      ['one', 1],
      ['zero', 0],
    ]);
    expect(event.check?.duration).to.equal(undefined);
  });

  it('completes a pipeline reference that has only a name', () => {
    const { check } = decodeEvent(eventWith({ check: field(46, field(1, 'incidents')) }));
    expect(check?.pipelines).to.deep.equal([{ name: 'incidents', type: 'Pipeline', api_version: 'core/v2' }]);
  });

  const malformed: [string, Buffer][] = [
    ['a cut keepalive', hex(KEEPALIVE).subarray(0, -1)],
    ['a tag without a value', eventWith({ event: hex('38') })],
    ['a cut varint', eventWith({ event: hex('3880') })],
    ['a varint of eleven bytes', eventWith({ event: hex('388080808080808080808001') })],
    ['a tag of more than 32 bits', eventWith({ event: hex('808080801000') })],
    ['a tag that never ends', eventWith({ event: Buffer.alloc(20, 0xff) })],
    ['field 0', eventWith({ event: hex('0000') })],
    ['a length beyond the end', eventWith({ event: hex('2a0a') })],
    ['a length of 2^32', eventWith({ event: hex('2a8080808010') })],
    ['a length below zero', eventWith({ event: hex('2affffffffffffffffff01') })],
    ['a length beyond the end of its message', eventWith({ check: hex('d2017f'), event: Buffer.alloc(200) })],
    ['a varint beyond the end of its message', eventWith({ check: hex('b80180') })],
    ['a double beyond the end of its message', eventWith({ check: hex('b101000000') })],
    ['an unknown field beyond the end', eventWith({ event: hex('a5060102') })],
    ['an unknown field of eight bytes beyond the end', eventWith({ event: hex('a1060102') })],
    ['a group', eventWith({ event: hex('a306a406') })],
    ['the end of a group', eventWith({ event: hex('a406') })],
    ['wire type 6', eventWith({ event: hex('a606') })],
    ['wire type 7', eventWith({ event: hex('a706') })],
    ['an id of 15 bytes', eventWith({ event: field(6, Buffer.alloc(15)) })],
    ['JSON', Buffer.from('{"entity":{}}')],
  ];
  for (const [what, payload] of malformed) {
    it(`is not ${what}`, () => {
      expect(() => decodeEvent(payload)).to.throw(MalformedProtobuf);
    });
  }

  const refused: [string, Buffer, string][] = [
    ['nothing', Buffer.alloc(0), 'event must contain an entity'],
    ['an entity alone', field(2, ENTITY), 'event must contain a check or metrics'],
    ['a named event', eventWith({ event: field(5, field(1, 'x')) }), 'events cannot be named'],
    [
      'a short ttl',
      Buffer.concat([field(2, ENTITY), field(3, Buffer.concat([number(5, 1), number(18, 4), CHECK]))]),
      'check is invalid: minimum ttl is 5 seconds',
    ],
  ];
  for (const [what, payload, message] of refused) {
    it(`is rejected as invalid: ${what}`, () => {
      expect(validationErrorOf(() => decodeEvent(payload))).to.equal(message);
    });
  }

  it('is not written with an id that is not a UUID', () => {
    const event: Event = { ...decodeEvent(hex(KEEPALIVE)), id: 'x' };
    expect(() => encodeEvent(event)).to.throw(InvalidResource, 'id must be a UUID');
  });

  it('has points with all their nanoseconds', () => {
    const statsd = frames.find(({ note }) => note === 'StatsD');
    const { metrics } = decodeEvent(payloadOf(statsd ?? { dir: '' }));
    expect(metrics?.points?.map(({ timestamp }) => timestamp)).to.deep.equal(
      Array.from({ length: 3 }, () => 1_795_263_001_927_089_952n),
    );
  });

  it('with an empty id has none', () => {
    expect(decodeEvent(eventWith({ event: field(6, '') })).id).to.equal(null);
  });
});

describe('a message in protobuf', () => {
  const decoders: [string, Message, (payload: Buffer) => unknown][] = [
    ['event', eventMessage, decodeEvent],
    ['entity configuration', entityConfigMessage, decodeEntityConfig],
    ['check request', checkRequestMessage, decodeCheckRequest],
  ];
  const samples: Record<number, Buffer> = {
    [VARINT]: hex('01'),
    [FIXED64]: Buffer.alloc(8),
    [LENGTH]: hex('00'),
    [FIXED32]: Buffer.alloc(4),
    3: Buffer.alloc(0),
    4: Buffer.alloc(0),
  };
  for (const [what, root, decode] of decoders) {
    it(`has no field of the wrong wire type: ${what}`, () => {
      const visited = new Set<Message>();
      const visit = (message: Message, wrap: (content: Buffer) => Buffer): void => {
        if (visited.has(message)) return;
        visited.add(message);
        for (const known of message.fields) {
          for (const [type, sample] of Object.entries(samples)) {
            const tag = known.number * 8 + Number(type);
            if (tag === known.tag) continue;
            const payload = wrap(Buffer.concat([varint(tag), sample]));
            expect(() => decode(payload), `${known.name} as ${type}`).to.throw(MalformedProtobuf);
          }
          if (known.message) visit(known.message, (content) => wrap(field(known.number, content)));
        }
      };
      visit(root, (content) => content);
      expect(visited.size).to.be.greaterThan(2);
    });

    it(`is decoded from any bytes or throws InvalidResource: ${what}`, () => {
      const payloads = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
      fc.assert(
        fc.property(payloads, (payload) => void validationErrorOf(() => decode(payload))),
        { numRuns: 1_000 },
      );
    });

    it(`is decoded from damaged bytes or throws InvalidResource: ${what}`, () => {
      const whole = fc.constantFrom(hex(SENTINEL), hex(REQUEST), hex(KEEPALIVE), ...frames.map(payloadOf));
      const noise = fc.uint8Array({ maxLength: 6 }).map((array) => Buffer.from(array));
      const payloads = fc.tuple(whole, fc.nat(), fc.nat({ max: 6 }), noise).map(([bytes, place, removed, added]) => {
        const start = place % bytes.length;
        return Buffer.concat([bytes.subarray(0, start), added, bytes.subarray(start + removed)]);
      });
      fc.assert(
        fc.property(payloads, (payload) => void validationErrorOf(() => decode(payload))),
        { numRuns: 2_000 },
      );
    });

    it(`is decoded from a truncated message or throws InvalidResource: ${what}`, () => {
      for (const payload of [SENTINEL, REQUEST, KEEPALIVE].map(hex)) {
        for (let end = 0; end <= payload.length; end += 1) validationErrorOf(() => decode(payload.subarray(0, end)));
      }
    });
  }
});

describe('an entity configuration in protobuf', () => {
  it('for an agent that is not stored has the expected bytes', () => {
    const sentinel = parseEntityConfig({
      metadata: { name: 'not found', namespace: 'default' },
      entity_class: 'agent',
    });
    expect(encodeEntityConfig(sentinel).toString('hex')).to.equal(SENTINEL);
    expect(decodeEntityConfig(hex(SENTINEL))).to.deep.equal(sentinel);
  });

  it('is unchanged by encoding and decoding', () => {
    fc.assert(
      fc.property(validEvents, (sent) => {
        const { entity } = parseEvent(sent);
        if (entity === undefined) return;
        const config = configOf(entity);
        expect(decodeEntityConfig(encodeEntityConfig(config))).to.deep.equal(config);
      }),
    );
  });

  it('always has metadata when it is written', () => {
    expect(encodeEntityConfig(decodeEntityConfig(Buffer.alloc(0))).toString('hex')).to.equal('0a003200');
  });

  for (const recorded of frames.filter(({ type }) => type === 'entity_config')) {
    it(`as a real agent took it, with zeros, is read, and written again without: ${recorded.note}`, () => {
      const payload = payloadOf(recorded);
      const config = decodeEntityConfig(payload);
      expect(config).to.deep.equal(parseEntityConfig(recorded.json));
      const encoded = encodeEntityConfig(config);
      expect(decodeEntityConfig(encoded)).to.deep.equal(config);
      expect(encoded.length).to.be.lessThan(payload.length);
    });
  }
});

describe('a check request in protobuf', () => {
  const request = parseCheckRequest({
    config: {
      command: 'check-disk -w 80',
      interval: 60,
      publish: true,
      subscriptions: ['linux'],
      metadata: { name: 'disk', namespace: 'default' },
    },
    issued: 1_767_268_830,
  });

  it('case 18: has the expected bytes', () => {
    expect(encodeCheckRequest(request).toString('hex')).to.equal(REQUEST);
    expect(decodeCheckRequest(hex(REQUEST))).to.deep.equal(request);
  });

  for (const [index, recorded] of frames.entries()) {
    if (recorded.type !== 'check_request') continue;
    it(`as a real agent took it, with zeros, is read, and written again without: ${index}, ${recorded.note ?? ''}`, () => {
      const payload = payloadOf(recorded);
      const decoded = decodeCheckRequest(payload);
      expect(difference(recorded.json, decoded)).to.equal(undefined);
      const json = Buffer.from(JSON.stringify({ ...recorded.json, issued: decoded.issued }));
      expect(decodeJsonRequest(json)).to.deep.equal(decoded);
      const encoded = encodeCheckRequest(decoded);
      expect(decodeCheckRequest(encoded)).to.deep.equal(decoded);
      expect(encoded.length).to.be.lessThan(payload.length);
    });
  }

  it('keeps the scheduler, the secrets and the assets of hooks', () => {
    const asset = { url: 'https://assets.example/x', sha512: 'ab', headers: { a: 'b' }, metadata: { name: 'x' } };
    const build = { url: 'https://assets.example/y', filters: ["entity.system.os == 'linux'"] };
    const sent = parseCheckRequest({
      ...request,
      config: { ...request.config, scheduler: 'memory' },
      assets: [asset, { builds: [build], filters: ['true'] }],
      hooks: [{ command: 'ps', timeout: 5, metadata: { name: 'ps' }, runtime_assets: ['x'] }],
      hook_assets: { ps: { assets: [asset] }, none: {}, gone: null },
      secrets: ['A=1'],
    });
    expect(decodeCheckRequest(encodeCheckRequest(sent))).to.deep.equal(sent);
    expect(encodeCheckRequest(sent).toString('hex')).to.contain(`fa0106${Buffer.from('memory').toString('hex')}`);
  });

  it('may contain an invalid check, which the agent reports', () => {
    expect(decodeCheckRequest(field(1, '')).config.interval).to.equal(0);
  });

  it('is not without a check', () => {
    expect(validationErrorOf(() => decodeCheckRequest(number(4, 5)))).to.equal(
      'check request config must be an object',
    );
  });

  const foreign: [string, Record<string, unknown>][] = [
    ['assets that are strings', { assets: ['x'] }],
    ['an asset whose address is a number', { assets: [{ url: 5 }] }],
    ['an asset whose filters are a text', { assets: [{ filters: 'x' }] }],
    ['a hook whose timeout is a string', { hooks: [{ timeout: '5' }] }],
    ['hook assets that are a text', { hook_assets: { x: 'y' } }],
  ];
  for (const [what, part] of foreign) {
    it(`is not written with ${what}`, () => {
      expect(() => encodeCheckRequest(Object.assign({}, request, part))).to.throw(InvalidResource);
    });
  }
});
