import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { EntityRoom } from '../../../src/actors/core/entity-room.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import { atMostJsonBytes } from '../../../src/store/records/event-sizes.ts';
import { jsonBytes } from '../../../src/wire/json-parts.ts';

/** The limits of `mon-backend start` by default. */
const DEFAULT_LIMITS = { checks: 10_000, bytes: 104_857_600 };

describe('the limit of the size of a value', () => {
  it('is never below the bytes of its JSON', () => {
    const value = fc.oneof(fc.jsonValue(), fc.object({ withBigInt: true }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(value, (any) => {
        expect(atMostJsonBytes(any)).to.be.at.least(jsonBytes(any ?? null));
      }),
    );
  });

  for (const value of [-0.0000012345678901234567, -1.234567890123456e-300, false, null, -(2n ** 80n), '\u0000\ud800']) {
    it(`is not below the bytes of ${String(value)}, alone and as the only member or item`, () => {
      for (const nested of [value, [value], { '\u0000': value }, [undefined, value]]) {
        expect(atMostJsonBytes(nested)).to.be.at.least(jsonBytes(nested));
      }
    });
  }

  it('does not count members that are undefined', () => {
    expect(atMostJsonBytes({ a: undefined })).to.equal(atMostJsonBytes({}));
  });

  it('does not measure a usual event, because it is below the size of a small one', () => {
    const event = parseEvent({
      entity: { entity_class: 'proxy', metadata: { name: 'server-1', namespace: 'default' } },
      check: {
        metadata: { name: 'check-1', namespace: 'default' },
        interval: 60,
        output: 'CPU OK - 5% used '.repeat(20),
        executed: 1_700_000_000,
        handlers: ['slack'],
      },
      id: randomUUID(),
    });
    const measured = (): never => expect.fail('the event was measured');
    const room = new EntityRoom(DEFAULT_LIMITS, () => []);
    const atMostBytes = atMostJsonBytes(event);
    room.add({ entity: 'default/server-1', key: 'k', isNew: false, atMostBytes, bytes: measured, atMs: 0 });
    expect(atMostBytes).to.be.at.least(jsonBytes(event));
  });
});
