import { expect } from 'chai';
import fc from 'fast-check';
import { parseEvent } from '../../../src/resources/event.ts';
import { CODECS } from '../../../src/store/records/codecs.ts';
import type { OutboxEntry } from '../../../src/store/records/records.ts';
import { CorruptRecord } from '../../../src/store/encoding/sealed.ts';
import { stringifyExactly } from '../../../src/wire/exact-json.ts';
import { validEvents } from '../../support/arbitrary-event.ts';

const text = fc.string({ unit: 'grapheme' });
const points = fc.array(fc.record({ timestamp: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }));
const entries: fc.Arbitrary<OutboxEntry> = fc.record({
  notificationId: fc.uuid(),
  namespace: text,
  handler: text,
  key: text,
  event: fc.tuple(validEvents, points).map(([event, exact]) => parseEvent({ ...event, metrics: { points: exact } })),
  decidedAtMs: fc.nat(),
});

describe('the stored bytes of an outbox entry', () => {
  it('are decoded to the entry that was encoded, with exact timestamps of its metrics', () => {
    fc.assert(
      fc.property(entries, (written) => {
        const read = CODECS.outbox.decode(CODECS.outbox.encode(written), 'an entry');
        const { event, ...entry } = written;
        expect(stringifyExactly(read.event)).to.equal(stringifyExactly(event));
        expect(read.event.metrics?.points).to.have.lengthOf(event.metrics?.points?.length ?? 0);
        expect({ ...read, event }).to.deep.equal({ ...entry, event });
      }),
    );
  });

  it('are rejected when they are damaged', () => {
    const [entry] = fc.sample(entries, 1);
    if (entry === undefined) expect.fail('a sample has an entry');
    const bytes = CODECS.outbox.encode(entry);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    expect(() => CODECS.outbox.decode(bytes, 'an entry')).to.throw(CorruptRecord);
  });

  it('are read without parsing the event before its first use', () => {
    const [entry] = fc.sample(entries, 1);
    if (entry === undefined) expect.fail('a sample has an entry');
    const { parse } = JSON;
    let parsed = 0;
    JSON.parse = ((json: string) => {
      parsed += 1;
      return parse(json) as unknown;
    }) as typeof parse;
    try {
      const read = CODECS.outbox.decode(CODECS.outbox.encode(entry), 'an entry');
      expect([read.handler, parsed]).to.deep.equal([entry.handler, 1]);
      expect(read.event).to.equal(read.event);
      expect(parsed).to.be.greaterThan(1);
    } finally {
      JSON.parse = parse;
    }
  });
});
