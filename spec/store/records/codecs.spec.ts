import { expect } from 'chai';
import fc from 'fast-check';
import { type CheckEvent, hasCheck, parseEvent } from '../../../src/resources/event.ts';
import { historyOf, NO_HISTORY } from '../../../src/rules/check-history.ts';
import { CODECS } from '../../../src/store/records/codecs.ts';
import {
  type EventRecord,
  eventOf,
  type OpenStreak,
  type OpenStreaks,
  type RanTicks,
} from '../../../src/store/records/records.ts';
import { CorruptRecord, sealText, unseal } from '../../../src/store/encoding/sealed.ts';
import { encodeEvent } from '../../../src/wire/protobuf-codec.ts';
import { validEvents } from '../../support/arbitrary-event.ts';
import { checkEvent } from '../../support/example-events.ts';

const STREAK: OpenStreak = { number: 1, handler: 'mail', outcome: 'denied', reason: 'no', count: 2, atMs: 3 };

const attributes = fc.record(
  {
    aggregate: fc.oneof(fc.boolean(), fc.constant('web')),
    aggregates: fc.array(fc.constantFrom('web', 'a|b', 'c:d')),
    handle: fc.boolean(),
  },
  { requiredKeys: [] },
);

function event(output: string, sent: object = {}): CheckEvent {
  const parsed = parseEvent(checkEvent('web-1', 'disk', { output, status: 1, ttl: 60, ...sent }));
  if (!hasCheck(parsed)) throw new Error('the example has a check');
  return parsed;
}

const record: fc.Arbitrary<EventRecord> = fc.record({
  state: fc.record({
    history: fc.array(fc.record({ status: fc.nat(), executed: fc.maxSafeInteger() }), { maxLength: 21 }).map(historyOf),
    occurrences: fc.nat(),
    occurrencesWatermark: fc.nat(),
    state: fc.constantFrom('passing', 'failing', 'flapping'),
    totalStateChange: fc.nat(98),
    lastOk: fc.maxSafeInteger(),
    silenced: fc.array(fc.string()),
  }),
  ttl: fc.option(
    fc.record({
      value: fc.string(),
      context: fc.record({ key: fc.string(), ttlMs: fc.nat() }),
      version: fc.string(),
    }),
    {
      nil: undefined,
    },
  ),
  ran: fc.option(fc.constant<RanTicks>([1, 2, 3]), { nil: undefined }),
  streaks: fc.option(
    fc.constantFrom<OpenStreaks>(
      'apart',
      [STREAK],
      [
        { ...STREAK, pipeline: 'p', workflow: 'w', nth: 2 },
        { ...STREAK, pipeline: 'p', workflow: 'w', others: 3 },
      ],
    ),
    { nil: undefined },
  ),
  aggregates: fc.option(fc.array(fc.string(), { minLength: 1 }), { nil: undefined }),
  event: fc.tuple(fc.string({ unit: 'grapheme' }), attributes).map(([output, sent]) => event(output, sent)),
});

function recordOf(stored: CheckEvent): EventRecord {
  const state = {
    history: NO_HISTORY,
    occurrences: 0,
    occurrencesWatermark: 0,
    state: 'passing' as const,
    totalStateChange: 0,
    lastOk: 0,
    silenced: [],
  };
  return { state, ttl: undefined, event: stored };
}

describe('the stored bytes of an event', () => {
  it('are decoded to the event that was encoded', () => {
    fc.assert(
      fc.property(record, (written) => {
        const read = CODECS.events.decode(CODECS.events.encode(written), 'an event');
        expect(read.state).to.deep.equal(written.state);
        const { ttl, ran, streaks, aggregates } = written;
        expect({ ttl: read.ttl, ran: read.ran, streaks: read.streaks, aggregates: read.aggregates }).to.deep.equal({
          ttl,
          ran,
          streaks,
          aggregates,
        });
        expect(JSON.parse(JSON.stringify(read.event))).to.deep.equal(JSON.parse(JSON.stringify(written.event)));
        expect(CODECS.events.encode(read)).to.deep.equal(CODECS.events.encode(written));
      }),
    );
  });

  it('contain every member of the event, as its JSON does', () => {
    fc.assert(
      fc.property(validEvents, (sent) => {
        const { metrics: _, ...stored } = parseEvent(sent);
        if (stored.check === undefined || stored.entity === undefined) throw new Error('a valid event has both');
        const written = { ...stored, metrics: undefined, check: stored.check, entity: stored.entity };
        const read = CODECS.events.decode(CODECS.events.encode(recordOf(written)), 'an event');
        expect(JSON.parse(JSON.stringify(read.event))).to.deep.equal(JSON.parse(JSON.stringify(written)));
      }),
    );
  });

  it('are those that the sender encoded, if available, with unknown fields', () => {
    const unknownField = Buffer.from([0xfa, 0x7f, 0x01, 0x78]);
    const sent = event('sent');
    const encoded = Buffer.concat([encodeEvent(sent), unknownField]);
    const sealed = CODECS.events.encode({ ...recordOf(sent), encoded });
    expect(sealed.includes(encoded)).to.equal(true);
    const read = CODECS.events.decode(sealed, 'an event');
    expect(JSON.stringify(read.event)).to.equal(JSON.stringify(sent));
    expect(CODECS.events.encode(read)).to.deep.equal(sealed);
  });

  it('are decoded with the fields that the backend owns, zeros included, whatever the event contains', () => {
    const sent = event('sent');
    const claimed = {
      ...sent,
      check: { ...sent.check, occurrences: 9, silenced: ['a'], is_silenced: true, last_ok: 5 },
    };
    const { check } = eventOf(recordOf(claimed));
    expect(check).to.include({ occurrences: 0, is_silenced: false, last_ok: 0, state: 'passing' });
    expect(check.silenced).to.equal(undefined);
    expect(check.history).to.deep.equal([]);
  });
});

describe('a sealed value', () => {
  it('reveals any changed byte', () => {
    const sealed = sealText('what was written');
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), (index, change) => {
        const changed = Buffer.from(sealed);
        changed[index] = (changed[index] ?? 0) ^ change;
        expect(() => unseal(changed, 'it')).to.throw(CorruptRecord);
      }),
    );
  });
});
