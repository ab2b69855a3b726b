import { expect } from 'chai';
import fc from 'fast-check';
import { customOf, customToMetadata } from '../../src/rules/earlier-attributes.ts';
import { toEarlierStatus, toStoredStatus } from '../../src/rules/earlier-status.ts';

describe('the custom attributes of the first generation', () => {
  it('are labels if they are strings, and JSON in annotations otherwise', () => {
    expect(
      customToMetadata({ rack: 'r12', 'a-b': 'x', auto_resolve: false, tags: ['a'], gone: undefined }),
    ).to.deep.equal({
      labels: { rack: 'r12' },
      annotations: {
        'mon.io/earlier/a-b': '"x"',
        'mon.io/earlier/auto_resolve': 'false',
        'mon.io/earlier/tags': '["a"]',
      },
    });
  });

  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (custom) => {
        const sent = JSON.parse(JSON.stringify(custom)) as Record<string, unknown>;
        expect(customOf(customToMetadata(sent))).to.deep.equal(sent);
      }),
    );
  });

  it('are shown as text if a user wrote an annotation that is not JSON', () => {
    expect(customOf({ labels: undefined, annotations: { 'mon.io/earlier/note': '{' } })).to.deep.equal({ note: '{' });
  });
});

describe('a status of the first generation', () => {
  it('comes back with its sign', () => {
    fc.assert(fc.property(fc.integer(), (status) => toEarlierStatus(toStoredStatus(status)) === status));
    expect(toStoredStatus(-1)).to.equal(4_294_967_295);
  });
});
