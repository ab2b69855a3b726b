import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidResource } from '../../src/resources/errors.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { LastEntity } from '../../src/wire/last-entity.ts';
import { MAX_VALUES } from '../../src/wire/message-bounds.ts';
import * as json from '../../src/wire/json-codec.ts';
import { decodeEvent, encodeEvent } from '../../src/wire/protobuf-codec.ts';
import { validEvents } from '../support/arbitrary-event.ts';
import { agentEntity, checkEvent } from '../support/example-events.ts';

/** The event, or the reason why it is rejected. */
function outcomeOf(decode: () => object): object {
  try {
    return decode();
  } catch (error) {
    if (error instanceof InvalidResource) return { rejected: error.message };
    throw error;
  }
}

/** Payloads of one sender: of few events, whole, damaged, or two in one, whose entities are merged. */
const payloads = fc
  .array(validEvents, { minLength: 1, maxLength: 3 })
  .map((events) => events.map((event) => encodeEvent(parseEvent(event))))
  .chain((encoded) => {
    const whole = fc.constantFrom(...encoded);
    const damaged = fc
      .tuple(whole, fc.nat(), fc.nat({ max: 255 }))
      .map(([bytes, at, byte]) => Buffer.concat([bytes.subarray(0, at % bytes.length), Buffer.from([byte])]));
    const double = fc.tuple(whole, whole).map((both) => Buffer.concat(both));
    return fc.array(fc.oneof({ weight: 4, arbitrary: whole }, damaged, double), { minLength: 2, maxLength: 12 });
  });

/** The JSON of an event as agents encode it, with the members that begin it and with members after its entity. */
const jsonOf = (event: object, head: object, tail: string): string => {
  const { entity, ...others } = event as { entity?: unknown };
  const text = JSON.stringify({ ...head, entity, ...others });
  return `${text.slice(0, -1)}${tail}}`;
};

const DEEP = `,"x":${'['.repeat(2_000)}${']'.repeat(2_000)}`;

/** Payloads of one sender: of few events, as agents encode them, with members that occur twice, and damaged. */
const jsonPayloads = fc.array(validEvents, { minLength: 1, maxLength: 3 }).chain((events) => {
  const entities = events.map((event) => JSON.stringify((event as { entity?: unknown }).entity));
  const tail = fc.constantFrom(
    '',
    '',
    ',"entity":null',
    ',"Entity":{}',
    ',"entity":0',
    `,"\\u0065ntity":${entities[0]}`,
  );
  const head = fc.constantFrom({ timestamp: 1 }, { timestamp: -7 }, { timestamp: 1 }, {}, { timestamp: 'x' });
  const whole = fc.tuple(fc.constantFrom(...events), head, tail).map((parts) => Buffer.from(jsonOf(...parts)));
  const deep = whole.map((bytes) => Buffer.from(bytes.toString().replace(/"entity":\{[^}]*/, `$&${DEEP}`)));
  const damaged = fc
    .tuple(whole, fc.nat(), fc.nat({ max: 255 }))
    .map(([bytes, at, byte]) => Buffer.from(bytes).fill(byte, at % bytes.length, (at % bytes.length) + 1));
  return fc.array(fc.oneof({ weight: 6, arbitrary: whole }, damaged, deep), { minLength: 2, maxLength: 12 });
});

/** An event of web-1 whose entity has the same bytes at any time. */
function eventOf(entity: object, changes: object = {}): object {
  return { ...checkEvent('web-1', 'disk'), entity: agentEntity('web-1', { last_seen: 1, ...entity }), ...changes };
}

describe('the last entity of a sender', () => {
  it('changes no decoded event and no reason of a rejection', () => {
    fc.assert(
      fc.property(payloads, (sent) => {
        const last = new LastEntity();
        for (const payload of sent) {
          expect(outcomeOf(() => decodeEvent(payload, last))).to.deep.equal(outcomeOf(() => decodeEvent(payload)));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('changes no event decoded from JSON and no reason of a rejection', () => {
    fc.assert(
      fc.property(jsonPayloads, (sent) => {
        const last = new LastEntity();
        for (const payload of sent) {
          expect(outcomeOf(() => json.decodeEvent(payload, last))).to.deep.equal(
            outcomeOf(() => json.decodeEvent(payload)),
          );
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is encoded in protobuf as an entity of its own', () => {
    fc.assert(
      fc.property(validEvents, (sent) => {
        const last = new LastEntity();
        const event = parseEvent(sent);
        const { timestamp, entity, ...others } = event;
        const payload = Buffer.from(JSON.stringify({ timestamp, entity, ...others }));
        for (let count = 0; count < 3; count += 1) {
          expect(encodeEvent(json.decodeEvent(payload, last))).to.deep.equal(encodeEvent(event));
        }
      }),
    );
  });

  it('is shared by events in JSON with the same text, and is frozen', () => {
    const last = new LastEntity();
    const [first, second] = [1, 2].map((timestamp) => {
      const { entity, ...event } = checkEvent('web-1', 'disk') as { entity?: unknown };
      return json.decodeEvent(Buffer.from(JSON.stringify({ timestamp, entity, ...event, sequence: timestamp })), last);
    });
    expect(second?.entity).to.equal(first?.entity);
    expect(Object.isFrozen(first?.entity?.metadata)).to.equal(true);
    expect(second?.sequence).to.equal(2);
  });

  it('is shared by events with the same bytes, and is frozen at every level', () => {
    const last = new LastEntity();
    const [first, second] = [1, 2].map((timestamp) =>
      decodeEvent(encodeEvent(parseEvent(eventOf({}, { timestamp }))), last),
    );
    expect(second?.entity).to.equal(first?.entity);
    expect(Object.isFrozen(first?.entity?.metadata)).to.equal(true);
    expect(Object.isFrozen(first?.entity?.subscriptions)).to.equal(true);
    expect(second?.timestamp).to.equal(2);
  });

  it('is decoded again when it changes', () => {
    const last = new LastEntity();
    const decoded = ['a', 'b', 'a'].map((version) => {
      const event = parseEvent(eventOf({ sensu_agent_version: version }));
      return decodeEvent(encodeEvent(event), last).entity?.sensu_agent_version;
    });
    expect(decoded).to.deep.equal(['a', 'b', 'a']);
  });

  /** An event whose entity has this many processes without a name, each of two bytes. */
  function withProcesses(count: number, changes: object = {}): Buffer {
    const processes = Array.from({ length: count }, () => ({ name: '' }));
    return encodeEvent(parseEvent(eventOf({ system: { processes } }, changes)));
  }

  it('counts towards the bounds of each message', () => {
    const last = new LastEntity();
    const { entity } = decodeEvent(withProcesses(30_000), last);
    expect(decodeEvent(withProcesses(30_000), last).entity).to.equal(entity);
    const points = Array.from({ length: 20_000 }, () => ({ name: 'x', value: 1, timestamp: 1, tags: null }));
    const more = withProcesses(30_000, { metrics: { handlers: null, points } });
    expect(() => decodeEvent(more)).to.throw(InvalidResource, `at most ${MAX_VALUES} fields`);
    expect(() => decodeEvent(more, last)).to.throw(InvalidResource, `at most ${MAX_VALUES} fields`);
  });

  it('is copied once by an event whose entity has many parts', () => {
    const last = new LastEntity();
    const labels = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, 'v']));
    const whole = encodeEvent(parseEvent(eventOf({ metadata: { name: 'web-1', namespace: 'default', labels } })));
    const { entity } = decodeEvent(whole, last);
    // Each part is an empty message of the field of the entity.
    const parts = Buffer.alloc(20_000, Buffer.from([2 * 8 + 2, 0]));
    const before = process.cpuUsage();
    const decoded = decodeEvent(Buffer.concat([whole, parts]), last);
    // Without it, the message took seconds; now it takes some milliseconds.
    expect(process.cpuUsage(before).user).to.be.below(200_000);
    expect(decoded.entity).to.deep.equal(entity);
    expect(decoded.entity).not.to.equal(entity);
  });

  it('is not kept when it is large', () => {
    const last = new LastEntity();
    const { entity } = decodeEvent(withProcesses(40_000), last);
    expect(Object.isFrozen(entity)).to.equal(false);
    expect(decodeEvent(withProcesses(40_000), last).entity).not.to.equal(entity);
  });
});
