import { expect } from 'chai';
import { assertCheck, parseCheckShape } from '../../src/resources/check.ts';
import { InvalidResource } from '../../src/resources/errors.ts';

const CHECK = { command: 'true', interval: 60, metadata: { name: 'disk', namespace: 'default' } };

const parse = (attributes: object) => {
  const check = parseCheckShape({ ...CHECK, ...attributes });
  assertCheck(check);
  return check;
};

describe('the attributes of a check from the first generation', () => {
  it('are absent where they are not set', () => {
    for (const attributes of [{}, { aggregate: null, aggregates: null, handle: null }]) {
      expect(parse(attributes)).to.not.have.any.keys('aggregate', 'aggregates', 'handle');
    }
  });

  it('stay as they were sent', () => {
    for (const attributes of [
      { aggregate: 'web' },
      { aggregate: true },
      { aggregate: false, handle: true },
      { aggregates: [], handle: false },
      { aggregates: ['a:b', 'c|d'] },
    ]) {
      expect(parse(attributes)).to.deep.include(attributes);
    }
  });

  const refused: [attributes: object, message: RegExp][] = [
    [{ aggregate: '' }, /^aggregate must be a name/],
    [{ aggregate: 'a b' }, /^aggregate must be a name/],
    [{ aggregates: ['a/b'] }, /^aggregates must be a name/],
    [{ aggregates: Array.from({ length: 101 }, (_, index) => `a${index}`) }, /^aggregates must have at most 100 items/],
    [{ aggregate: 1 }, /^aggregate must be string or boolean or null/],
    [{ handle: 'no' }, /^handle must be boolean or null/],
    [
      { metadata: { ...CHECK.metadata, annotations: { 'mon.io/handle': 'no' } } },
      /mon\.io\/handle must be true or false/,
    ],
    [{ metadata: { ...CHECK.metadata, annotations: { 'mon.io/aggregates': 'a,b c' } } }, /mon\.io\/aggregates must be/],
  ];
  for (const [attributes, message] of refused) {
    it(`are refused as ${JSON.stringify(attributes).slice(0, 60)}`, () => {
      expect(() => parse(attributes)).to.throw(InvalidResource, message);
    });
  }
});
