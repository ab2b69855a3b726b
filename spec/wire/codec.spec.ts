import { expect } from 'chai';
import fc from 'fast-check';
import { configOf } from '../../src/resources/entity.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { type Codec, jsonCodec, protobufCodec } from '../../src/wire/codec.ts';
import { parseCheckRequest } from '../../src/wire/check-request.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const EVENT = parseEvent({
  timestamp: 1_767_268_800,
  entity: { entity_class: 'agent', metadata: { name: 'web-01', namespace: 'default' } },
  check: { interval: 10, metadata: { name: 'disk' }, output: 'OK' },
});
const CONFIG = configOf(EVENT.entity ?? expect.fail('an event has an entity'));
const REQUEST = parseCheckRequest({
  config: { command: 'true', interval: 60, metadata: { name: 'disk', namespace: 'default' } },
  issued: 1_767_268_830,
});

const bytes = (encoded: string | Uint8Array): Buffer => Buffer.from(encoded);
const jsonOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const pairs: [string, Codec, string, Codec][] = [
  ['JSON', jsonCodec, 'JSON', jsonCodec],
  ['protobuf', protobufCodec, 'protobuf', protobufCodec],
  ['JSON', jsonCodec, 'protobuf', protobufCodec],
  ['protobuf', protobufCodec, 'JSON', jsonCodec],
];

describe('the codec of a connection', () => {
  it('has the negotiated media type', () => {
    expect([jsonCodec.mediaType, protobufCodec.mediaType]).to.deep.equal([
      'application/json',
      'application/octet-stream',
    ]);
  });

  for (const [session, reader, sender, writer] of pairs) {
    it(`reads all messages in a ${session} session that were written as ${sender}`, () => {
      expect(reader.decodeEvent(bytes(writer.encodeEvent(EVENT)))).to.deep.equal(EVENT);
      expect(reader.decodeEntityConfig(bytes(writer.encodeEntityConfig(CONFIG)))).to.deep.equal(CONFIG);
      expect(reader.decodeCheckRequest(bytes(writer.encodeCheckRequest(REQUEST)))).to.deep.equal(REQUEST);
    });
  }

  const noName = { ...EVENT, check: { ...EVENT.check, metadata: {} } };
  const refusals: [string, Codec, Buffer, string][] = [
    ['a rule broken in JSON', jsonCodec, jsonOf(noName), 'check is invalid: check name must not be empty'],
    ['a rule broken in relayed JSON', protobufCodec, jsonOf(noName), 'check is invalid: check name must not be empty'],
    ['a rule broken in relayed protobuf', jsonCodec, Buffer.from([0x08, 1]), 'event must contain an entity'],
    ['a cut object', jsonCodec, Buffer.from('{"entity":'), 'unexpected end of JSON input'],
    ['a cut object, relayed', protobufCodec, Buffer.from('{"entity":'), 'unexpected end of JSON input'],
    ['neither', jsonCodec, Buffer.from('hello'), 'payload is not JSON'],
    ['a wrong type', jsonCodec, jsonOf({ ...EVENT, timestamp: 'x' }), 'timestamp must be integer or null'],
    [
      'cut protobuf',
      protobufCodec,
      Buffer.from([0x12, 5, 0x0a]),
      'payload is not a protobuf message: a length exceeds the message',
    ],
  ];
  for (const [what, codec, payload, message] of refusals) {
    it(`says of ${what}: ${message}`, () => {
      expect(validationErrorOf(() => codec.decodeEvent(payload))).to.equal(message);
    });
  }

  it('decodes any bytes or throws InvalidResource', () => {
    const payloads = fc.oneof(
      fc.uint8Array({ maxLength: 100 }).map((array) => Buffer.from(array)),
      fc.json().map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.concat([Buffer.from('{'), array])),
    );
    fc.assert(
      fc.property(payloads, fc.constantFrom(jsonCodec, protobufCodec), (payload, codec) => {
        validationErrorOf(() => codec.decodeEvent(payload));
        validationErrorOf(() => codec.decodeEntityConfig(payload));
        validationErrorOf(() => codec.decodeCheckRequest(payload));
      }),
      { numRuns: 1_000 },
    );
  });
});
