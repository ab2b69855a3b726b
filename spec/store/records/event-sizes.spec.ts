import { expect } from 'chai';
import fc from 'fast-check';
import { atMostJsonBytes } from '../../../src/store/records/event-sizes.ts';
import { jsonBytes } from '../../../src/wire/json-parts.ts';

describe('the limit of the size of a value', () => {
  it('is never below the bytes of its JSON', () => {
    const value = fc.oneof(fc.jsonValue(), fc.object({ withBigInt: true }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(value, (any) => {
        expect(atMostJsonBytes(any)).to.be.at.least(jsonBytes(any ?? null));
      }),
    );
  });
});
