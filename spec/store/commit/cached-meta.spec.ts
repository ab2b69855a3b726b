import { expect } from 'chai';
import { CachedMeta } from '../../../src/store/commit/cached-meta.ts';
import type { TableName } from '../../../src/store/records/records.ts';
import type { TransactionalStore } from '../../../src/store/commit/transactional-store.ts';

describe('the cached values of the table meta', () => {
  let stored: Map<string, number>;
  let reads: string[];
  let meta: CachedMeta;

  beforeEach(() => {
    stored = new Map([['revision', 1]]);
    reads = [];
    const get = (table: TableName, key: string): unknown => {
      reads.push(`${table} ${key}`);
      return stored.get(key);
    };
    meta = new CachedMeta({ get } as Pick<TransactionalStore, 'get'>);
  });

  it('are read from the store once', () => {
    expect([meta.get('revision'), meta.get('revision')]).to.deep.equal([1, 1]);
    expect(reads).to.deep.equal(['meta revision']);
  });

  it('are read again after a change or a failed write', () => {
    meta.get('revision');
    stored.set('revision', 2);
    meta.committed(new Map([['revision', 2]]));
    expect(meta.get('revision')).to.equal(2);
    stored.set('revision', 3);
    meta.clear();
    expect(meta.get('revision')).to.equal(3);
  });

  it('are looked for in the store while they are absent', () => {
    expect(meta.get('lead')).to.equal(undefined);
    stored.set('lead', 5);
    expect(meta.get('lead')).to.equal(5);
  });
});
