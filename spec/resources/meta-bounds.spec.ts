import { expect } from 'chai';
import { assertEntity, parseEntityShape } from '../../src/resources/entity.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { assertMetaBounds } from '../../src/resources/meta-bounds.ts';
import { objectMetaWithDefaults } from '../../src/resources/object-meta.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const MAX_ENTRIES = 1_000;
const MAX_BYTES = 262_144;
const TOO_MANY = 'metadata must have at most 1000 labels and annotations together';
const TOO_LONG = 'labels and annotations of metadata must be at most 262144 bytes together, keys and values';

const entries = (count: number, prefix = 'k'): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, '']));

const errorOf = (meta: object): string | undefined =>
  validationErrorOf(() => assertMetaBounds(objectMetaWithDefaults(meta)));

describe('the labels and annotations of a resource', () => {
  it('are accepted when there are 1000 of them together', () => {
    expect(errorOf({ labels: entries(600), annotations: entries(MAX_ENTRIES - 600) })).to.equal(undefined);
  });

  it('are rejected when there are more than 1000 labels, annotations or both together', () => {
    expect(errorOf({ labels: entries(MAX_ENTRIES + 1) })).to.equal(TOO_MANY);
    expect(errorOf({ annotations: entries(MAX_ENTRIES + 1) })).to.equal(TOO_MANY);
    expect(errorOf({ labels: entries(600), annotations: entries(MAX_ENTRIES - 599) })).to.equal(TOO_MANY);
  });

  it('are accepted up to 262144 bytes of keys and values', () => {
    expect(errorOf({ labels: { key: 'x'.repeat(MAX_BYTES - 3) } })).to.equal(undefined);
    expect(errorOf({ annotations: { ['k'.repeat(MAX_BYTES)]: '' } })).to.equal(undefined);
    expect(errorOf({ labels: { a: 'x'.repeat(131_071) }, annotations: { b: 'x'.repeat(131_071) } })).to.equal(
      undefined,
    );
  });

  it('are rejected beyond that, wherever the bytes are', () => {
    expect(errorOf({ labels: { key: 'x'.repeat(MAX_BYTES - 2) } })).to.equal(TOO_LONG);
    expect(errorOf({ annotations: { ['k'.repeat(MAX_BYTES + 1)]: '' } })).to.equal(TOO_LONG);
    expect(errorOf({ labels: { a: 'x'.repeat(131_072) }, annotations: { b: 'x'.repeat(131_071) } })).to.equal(TOO_LONG);
  });

  it('are counted in bytes of UTF-8, not in characters', () => {
    expect(errorOf({ labels: { key: 'é'.repeat(131_070) } })).to.equal(undefined);
    expect(errorOf({ labels: { key: 'é'.repeat(131_071) } })).to.equal(TOO_LONG);
    expect(errorOf({ labels: { key: '€'.repeat(MAX_BYTES / 3) } })).to.equal(TOO_LONG);
  });

  it('may be absent', () => {
    expect(errorOf({})).to.equal(undefined);
  });
});

describe('an event with too many labels', () => {
  const labels = entries(MAX_ENTRIES + 1);
  const of = (name: string, more = {}): object => ({ name, namespace: 'default', ...more });
  const event = (changes: object): object => ({
    entity: { entity_class: 'agent', metadata: of('web-01') },
    check: { metadata: of('disk') },
    ...changes,
  });

  const rejected: [string, object, string][] = [
    ['its entity', event({ entity: { entity_class: 'agent', metadata: of('a', { labels }) } }), 'entity is invalid: '],
    ['its check', event({ check: { metadata: of('disk', { labels }) } }), 'check is invalid: '],
    [
      'a hook of its check',
      event({ check: { metadata: of('disk'), hooks: [{ metadata: of('ps', { annotations: labels }) }] } }),
      'check is invalid: hooks.0 ',
    ],
    ['itself', event({ metadata: { labels } }), ''],
  ];
  for (const [what, sent, prefix] of rejected) {
    it(`is rejected when ${what} has them, and the error names the field`, () => {
      expect(validationErrorOf(() => parseEvent(sent))).to.equal(prefix + TOO_MANY);
    });
  }

  it('can still be parsed when it was stored before', () => {
    const entity = parseEntityShape({ entity_class: 'agent', metadata: of('a', { labels }) });
    expect(Object.keys(entity.metadata.labels ?? {})).to.have.lengthOf(MAX_ENTRIES + 1);
    expect(validationErrorOf(() => assertEntity(entity))).to.equal(TOO_MANY);
  });
});
