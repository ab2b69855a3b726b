import { expect } from 'chai';
import fc from 'fast-check';
import { parseGoFloat } from '../../src/resources/go-float.ts';

describe('parseGoFloat', () => {
  for (const [text, value] of [
    ['1e5', 100_000],
    ['.5', 0.5],
    ['5.', 5],
    ['+3', 3],
    ['1_000', 1_000],
    ['0x1p4', 16],
    ['-0x1.8p1', -3],
    ['0X.8P0', 0.5],
    ['0x1p-1074', 5e-324],
    ['Inf', Infinity],
    ['-infinity', -Infinity],
    ['NaN', NaN],
  ] as const) {
    it(`reads ${text}`, () => {
      expect(parseGoFloat(text)).to.be.deep.equal(value);
    });
  }

  for (const text of [
    '',
    ' ',
    '1 ',
    '1,5',
    '_1',
    '1_',
    '1__0',
    '0x10',
    '0x1',
    '1e',
    'e5',
    '--1',
    '1e400',
    '0x1p2000',
    'infin',
    '٣',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(parseGoFloat(text)).to.equal(undefined);
    });
  }

  it('reads every number as it is printed', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(parseGoFloat(String(value))).to.deep.equal(value === 0 ? 0 : value);
      }),
    );
  });
});
