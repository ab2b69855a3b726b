import { expect } from 'chai';
import fc from 'fast-check';
import { longText } from '../../../src/store/records/long-text.ts';

const repeated = (bytes: Uint8Array): Buffer => Buffer.alloc(Math.ceil(70_000 / bytes.length) * bytes.length, bytes);

describe('the text of many bytes', () => {
  const texts: Record<string, string> = {
    ASCII: 'a',
    Latin: 'é',
    Chinese: 'a漢',
    emoji: '😀',
    'byte order marks': '\ufeff',
  };
  for (const [what, text] of Object.entries(texts)) {
    it(`is that of the decoder of Node.js: ${what}`, () => {
      const bytes = repeated(Buffer.from(text));
      expect(longText(bytes) === bytes.toString()).to.equal(true);
    });
  }

  it('is that of the decoder of Node.js for any bytes and any text', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 8 });
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }).map((one) => Buffer.from(one));
    fc.assert(
      fc.property(fc.oneof(bytes, text), (part) => {
        const whole = repeated(part);
        expect(longText(whole) === whole.toString()).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });
});
