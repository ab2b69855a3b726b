import { expect } from 'chai';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { ledgerIndexKey } from '../../../src/store/encoding/keyspace.ts';
import { chain, GENESIS, type LedgerDraft } from '../../../src/store/ledger/ledger.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { RawStore } from '../../../src/store/lmdb/raw-store.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const DRAFT: LedgerDraft = {
  atMs: 1_700_000_000_000,
  actor: 'entity',
  key: 'default/web',
  from: 'passing',
  event: 'result.received',
  to: 'failing',
  cause: { backend: 'retention.due' },
  guards: [],
  configRevision: 0,
};

describe('a store that is read as tables', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  it('shows the ledger and its indexes of one moment, whatever is written meanwhile', async () => {
    const store = new LmdbStore({ directory: directory.path, sync: 'none' });
    await store.write({ puts: emptyPuts(), ledger: chain([DRAFT, DRAFT], GENESIS) });
    await store.close();
    const writer = new RawStore({ directory: directory.path, sync: 'none' });
    const reader = new RawStore({ directory: directory.path, sync: 'none', readOnly: true });
    const ledger = reader.indexedLedger();
    const keys = [1, 2].map((seq) => ledgerIndexKey('entity', 'default/web', seq));
    let read = 0;
    for (const { seq } of reader.ledgerEntries()) {
      const records = keys.map((key) => ({ table: 'ledgerByKey', key, payload: null }));
      if (seq === 1) writer.write(records, {});
      read += 1;
    }
    expect(read).to.equal(2);
    expect(keys.filter((key) => ledger.hasKey('ledgerByKey', key))).to.deep.equal(keys);
    expect([...ledger.keysOf('ledgerByKey')]).to.have.length(2);
    await reader.close();
    await writer.close();
  });
});
