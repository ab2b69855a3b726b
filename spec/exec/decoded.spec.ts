import { expect } from 'chai';
import fc from 'fast-check';
import { decoded } from '../../src/exec/decoded.ts';
import { atOnce } from '../../src/exec/in-slices.ts';

const STEP_BYTES = 256 * 1024;

describe('the text of a long output', () => {
  const anyBytes = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc.array(fc.constantFrom(0x41, 0x80, 0xbf, 0xc3, 0xe2, 0x82, 0xf0, 0x9f, 0xff), { maxLength: 40 }).map(Buffer.from),
  );

  it('is the same when it is decoded in steps, wherever these divide it', () => {
    fc.assert(
      fc.property(anyBytes, fc.nat({ max: 20 }), (around, shift) => {
        // The bytes lie around the end of a step.
        const bytes = Buffer.concat([Buffer.alloc(STEP_BYTES - shift, 'x'), around, Buffer.from('end')]);
        expect(atOnce(decoded(bytes)) === bytes.toString()).to.equal(true);
      }),
    );
  });

  it('is decoded 256 KiB at a time', () => {
    const steps = decoded(Buffer.alloc(10 * STEP_BYTES, '€'));
    let count = 0;
    while (steps.next().done !== true) count += 1;
    expect(count).to.equal(11);
  });

  it('of continuation bytes alone is replaced by as many characters', () => {
    const bytes = Buffer.alloc(2 * STEP_BYTES, 0x80);
    expect(atOnce(decoded(bytes)) === '\ufffd'.repeat(bytes.length)).to.equal(true);
  });
});
