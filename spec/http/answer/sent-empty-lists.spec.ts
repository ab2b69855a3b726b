import { expect } from 'chai';
import { keepSentEmptyLists } from '../../../src/http/answer/sent-empty-lists.ts';

describe('an echoed request', () => {
  it('is answered with the empty lists that the client sent, except for members that the answer does not show', () => {
    const shown = { a: null, b: undefined, c: { d: null }, e: ['f'], g: null };
    expect(keepSentEmptyLists(shown, { a: [], b: [], c: { d: [] }, e: [], h: [] })).to.deep.equal({
      a: [],
      b: undefined,
      c: { d: [] },
      e: ['f'],
      g: null,
    });
  });

  it('shows an empty list inside the items of another list', () => {
    const shown = { list: [{ inner: null }, { inner: ['x'] }, { inner: null }] };
    expect(keepSentEmptyLists(shown, { list: [{ inner: [] }, { inner: ['x'] }, {}] })).to.deep.equal({
      list: [{ inner: [] }, { inner: ['x'] }, { inner: null }],
    });
  });

  it('does not show lists of items that do not correspond', () => {
    const shown = { list: [{ inner: null }], other: { inner: null } };
    expect(keepSentEmptyLists(shown, { list: [{}, { inner: [] }], other: [[]] })).to.equal(shown);
  });

  it('leaves out an empty list that is left out otherwise', () => {
    const shown = { left: undefined };
    expect(keepSentEmptyLists(shown, { left: [] })).to.equal(shown);
  });
});
