import { expect } from 'chai';
import { difference, exactDifference } from './golden-match.ts';

const UUID = '6f2b1c1e-8f0a-4d6b-9a57-0c6d3f0e1a22';

describe('the comparison with a recording', () => {
  const equal: [string, unknown, unknown][] = [
    ['listed members only', { a: 1 }, { a: 1, b: 2 }],
    ['null for an absent member', { a: null }, {}],
    ['null for null', { a: null }, { a: null }],
    ['lists in order', [1, { a: 1 }], [1, { a: 1, b: 2 }]],
    ['a uuid', '<uuid>', UUID],
    ['seconds, including 0', ['<unix>', '<unix>'], [0, 1_767_268_800]],
    ['a matcher inside a text', 'at <string>, <int> (>= 5)', 'at noon, 7 (>= 5)'],
    ['characters with a meaning in regular expressions', 'a.b*(<int>)', 'a.b*(3)'],
    ['any value', { a: '<any>' }, { a: [1] }],
  ];
  for (const [what, expected, actual] of equal) {
    it(`accepts ${what}`, () => {
      expect(difference(expected, actual)).to.equal(undefined);
    });
  }

  const different: [string, unknown, unknown, string][] = [
    ['a missing member', { a: { b: 1 } }, { a: {} }, 'answer.a.b: expected 1, got undefined'],
    ['a member that should be absent', { a: null }, { a: '' }, "answer.a: expected null, got ''"],
    ['a longer list', { a: [1] }, { a: [1, 2] }, 'answer.a: expected [ 1 ], got [ 1, 2 ]'],
    ['an item', [1, 2], [1, 3], 'answer[1]: expected 2, got 3'],
    ['a fraction of a second', '<unix>', 1.5, "answer: expected '<unix>', got 1.5"],
    ['a text in place of seconds', '<unix>', '5', "answer: expected '<unix>', got '5'"],
    ['a character taken literally', 'a.b <int>', 'axb 3', "answer: expected 'a.b <int>', got 'axb 3'"],
    ['a list for an object', {}, [], 'answer: expected {}, got []'],
  ];
  for (const [what, expected, actual, message] of different) {
    it(`reports ${what}`, () => {
      expect(difference(expected, actual)).to.equal(message);
    });
  }
});

describe('the exact comparison with a recording', () => {
  it('accepts the same members in any order', () => {
    expect(exactDifference({ a: [{ b: '<int>', c: null }] }, { a: [{ c: null, b: 2 }] })).to.equal(undefined);
  });

  const different: [string, unknown, unknown, string][] = [
    ['an additional member', { a: { b: 1 } }, { a: { b: 1, c: 2 } }, 'answer.a: expected members b, got b,c'],
    ['null for an absent member', { a: null }, {}, 'answer: expected members a, got '],
    ['a value', { a: 1 }, { a: 2 }, 'answer.a: expected 1, got 2'],
  ];
  for (const [what, expected, actual, message] of different) {
    it(`reports ${what}`, () => {
      expect(exactDifference(expected, actual)).to.equal(message);
    });
  }
});
