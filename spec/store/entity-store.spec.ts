import { expect } from 'chai';
import { configOf, type EntityConfig, entityWithDefaults, stateOf } from '../../src/resources/entity.ts';
import { entityKey, resourceKey } from '../../src/store/encoding/keyspace.ts';
import { readEntity, readSharedEntity } from '../../src/store/entity-store.ts';
import type { TableReader } from '../../src/store/records/table-reader.ts';

const NAMESPACE = 'default';
const NAME = 'server-1';
const CONFIG_KEY = resourceKey('entities', NAMESPACE, NAME);
const STATE_KEY = entityKey(NAMESPACE, NAME);

/** A reader of one entity, whose parts a test replaces. */
function readerOf(labels: Record<string, string> = {}) {
  const records = new Map<string, unknown>();
  const reader: TableReader = { get: (table, key) => records.get(`${table} ${key}`) as never };
  const entity = entityWithDefaults({ metadata: { name: NAME, namespace: NAMESPACE, labels } });
  const replaceConfig = (config: EntityConfig) => records.set(`resources ${CONFIG_KEY}`, config);
  const replaceLastSeen = (lastSeen: number) =>
    records.set(`entities ${STATE_KEY}`, { state: { ...stateOf(entity), last_seen: lastSeen } });
  replaceConfig(configOf(entity));
  return { reader, config: configOf(entity), replaceConfig, replaceLastSeen };
}

const shared = (reader: TableReader) => readSharedEntity(reader, NAMESPACE, NAME);

describe('the entity that events share', () => {
  it('is one object, equal to the stored entity, until its configuration or its state is replaced', () => {
    const { reader, config, replaceConfig, replaceLastSeen } = readerOf();
    const changes = [
      () => replaceLastSeen(1),
      () => replaceLastSeen(2),
      () => replaceConfig({ ...config, user: 'other' }),
      () => replaceConfig({ ...config, subscriptions: ['linux'] }),
    ];
    let before = shared(reader);
    for (const change of changes) {
      expect(shared(reader)).to.equal(before);
      change();
      expect(shared(reader)).to.not.equal(before);
      before = shared(reader);
      expect(before).to.deep.equal(readEntity(reader, NAMESPACE, NAME));
    }
  });

  it('cannot be changed by one of them', () => {
    const entity = shared(readerOf({ zone: 'a' }).reader);
    expect(() => Object.assign(entity ?? {}, { user: 'other' })).to.throw(TypeError);
    expect(() => Object.assign(entity?.metadata.labels ?? {}, { zone: 'b' })).to.throw(TypeError);
  });

  it('is a new object for each event when it is large', () => {
    const { reader } = readerOf({ text: 'x'.repeat(65_536) });
    const [first, second] = [shared(reader), shared(reader)];
    expect(first === second).to.equal(false);
    expect(first).to.deep.equal(second);
  });

  it('is undefined when no entity is stored', () => {
    expect(readSharedEntity(readerOf().reader, NAMESPACE, 'other')).to.equal(undefined);
  });
});
