import { expect } from 'chai';
import fc from 'fast-check';
import { stringifyExactly } from '../../src/wire/exact-json.ts';
import { jsonBytes, jsonParts } from '../../src/wire/json-parts.ts';

const LONG = 300_000;
const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 12 });
/** Any UTF-16 units, also lone surrogates, repeated to a long text. */
const longTexts = units
  .map((codes) => String.fromCharCode(...codes))
  .map((text) => text.repeat(Math.ceil(LONG / text.length)));
const members = fc.oneof(longTexts, fc.jsonValue(), fc.bigInt(), fc.constant(undefined), fc.array(longTexts));
const values = fc.record({ before: members, nested: fc.record({ text: longTexts, more: members }), after: members });

describe('the JSON of a value in parts', () => {
  it('is the same text as in one part, with the same size', () => {
    fc.assert(
      fc.property(values, (value) => {
        const whole = stringifyExactly(value);
        expect([...jsonParts(value)].join('') === whole).to.equal(true);
        expect(jsonBytes(value)).to.equal(Buffer.byteLength(whole));
      }),
      { numRuns: 30 },
    );
  });

  it('has short parts only of a long text', () => {
    const parts = [...jsonParts({ check: { output: '\u0001'.repeat(1_000_000) } })];
    expect(Math.max(...parts.map(({ length }) => length))).to.be.at.most(262_145 * 6);
  });

  it('does not split a character of two units', () => {
    const text = `${'a'.repeat(262_143)}😀${'b'.repeat(10)}`;
    expect([...jsonParts(text)].join('')).to.equal(JSON.stringify(text));
  });

  it('is counted without a look at each unit of a text in ASCII', () => {
    const { charCodeAt } = String.prototype;
    let looks = 0;
    String.prototype.charCodeAt = function (at: number): number {
      looks += 1;
      return charCodeAt.call(this, at);
    };
    try {
      expect(jsonBytes({ check: { hooks: [{ output: '"x\n'.repeat(1_000_000) }] } })).to.equal(5_000_035);
    } finally {
      String.prototype.charCodeAt = charCodeAt;
    }
    expect(looks).to.be.below(1_000);
  });

  it('is counted and not encoded for its size', () => {
    const { stringify } = JSON;
    let longest = 0;
    JSON.stringify = ((value: unknown) => {
      const text = stringify(value);
      longest = Math.max(longest, text.length);
      return text;
    }) as typeof stringify;
    try {
      expect(jsonBytes({ check: { output: '\u0001'.repeat(1_000_000) } })).to.equal(6_000_023);
    } finally {
      JSON.stringify = stringify;
    }
    expect(longest).to.be.below(100);
  });
});
