import { expect } from 'chai';
import { decodeEvent, encodeEvent, readEvent } from '../../src/wire/protobuf-codec.ts';
import { parseEvent, parseEventShape } from '../../src/resources/event.ts';
import { protobufCodec } from '../../src/wire/codec.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const MAX_VALUES = 100_000;
const TOO_MANY_FIELDS = 'protobuf message must have at most 100000 fields';
const TOO_MANY_ENTRIES = 'protobuf message must have at most 10000 entries of maps';

const EVENT = {
  entity: { entity_class: 'agent', metadata: { name: 'web-01', namespace: 'default' } },
  check: { metadata: { name: 'disk', namespace: 'default' } },
};
const valid = encodeEvent(parseEvent(EVENT));

/** A field of the type LENGTH with a number below 16 and a short content. */
const field = (number: number, content = Buffer.alloc(0)): Buffer =>
  Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content]);
const repeated = (bytes: Buffer, count: number): Buffer => Buffer.alloc(bytes.length * count, bytes);

const labelled = (count: number): Buffer => {
  const labels = Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, '']));
  return encodeEvent(parseEventShape({ ...EVENT, metadata: { labels } }));
};

describe('a protobuf event with many fields', () => {
  it('is rejected from 100,000 fields on, whether they are known or not', () => {
    const pipelines = Buffer.concat([valid, repeated(field(8), MAX_VALUES)]);
    const unknown = Buffer.concat([valid, repeated(field(15), MAX_VALUES)]);
    expect(validationErrorOf(() => decodeEvent(pipelines))).to.equal(TOO_MANY_FIELDS);
    expect(validationErrorOf(() => decodeEvent(unknown))).to.equal(TOO_MANY_FIELDS);
  });

  it('is rejected from 9,091 hooks on, because each of them counts as eleven fields', () => {
    const hooks = (count: number): Buffer => {
      const event = parseEventShape({
        ...EVENT,
        check: { ...EVENT.check, hooks: Array.from({ length: count }, () => ({})) },
      });
      return encodeEvent(event);
    };
    expect(validationErrorOf(() => decodeEvent(hooks(1_001)))).to.contain('hooks must have at most 1000 items');
    expect(validationErrorOf(() => decodeEvent(hooks(9_091)))).to.equal(TOO_MANY_FIELDS);
  });

  it('is rejected by the codec of a connection too', () => {
    const payload = Buffer.concat([valid, repeated(field(15), MAX_VALUES)]);
    expect(validationErrorOf(() => protobufCodec.decodeEvent(payload))).to.equal(TOO_MANY_FIELDS);
  });

  it('is read from the store with any number of them', () => {
    const payload = Buffer.concat([valid, repeated(field(15), 2 * MAX_VALUES)]);
    expect(readEvent(payload).check?.metadata.name).to.equal('disk');
  });

  it('is rejected from 10,000 labels on before they are checked, and read from the store', () => {
    expect(validationErrorOf(() => decodeEvent(labelled(10_001)))).to.equal(TOO_MANY_ENTRIES);
    expect(Object.keys(readEvent(labelled(10_001)).metadata.labels ?? {})).to.have.lengthOf(10_001);
  });

  it('may have 14,000 metric points of one tag', () => {
    const point = { name: 'a.b.c', value: 1.5, timestamp: 1_767_268_800, tags: [{ name: 'host', value: 'a' }] };
    const points = Array.from({ length: 14_000 }, () => point);
    const payload = encodeEvent(parseEvent({ ...EVENT, metrics: { points } }));
    expect(decodeEvent(payload).metrics?.points).to.have.lengthOf(14_000);
  });
});
