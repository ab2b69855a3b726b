import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidResource } from '../../src/resources/errors.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { LastEntity } from '../../src/wire/last-entity.ts';
import { MAX_VALUES } from '../../src/wire/message-bounds.ts';
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

  it('is not kept when it is large', () => {
    const last = new LastEntity();
    const { entity } = decodeEvent(withProcesses(40_000), last);
    expect(Object.isFrozen(entity)).to.equal(false);
    expect(decodeEvent(withProcesses(40_000), last).entity).not.to.equal(entity);
  });
});
