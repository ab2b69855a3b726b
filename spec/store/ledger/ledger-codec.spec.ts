import { expect } from 'chai';
import { chain, GENESIS, type LedgerDraft } from '../../../src/store/ledger/ledger.ts';
import { decodeLedgerEntry, encodeLedgerEntry, readLedgerEntry } from '../../../src/store/ledger/ledger-codec.ts';
import { CorruptRecord, sealText } from '../../../src/store/encoding/sealed.ts';

const DRAFT: LedgerDraft = {
  atMs: 1_700_000_000_000,
  actor: 'check-state',
  key: 'default/café/disk',
  from: 'passing',
  event: 'result.received',
  to: 'failing',
  cause: { session: 's-1' },
  guards: [{ name: 'isFailing', passed: true, inputs: { status: 2 } }],
  details: { output: 'größer als 90 %' },
  configRevision: 3,
};
const [entry] = chain([DRAFT], GENESIS);
if (entry === undefined) throw new Error('no entry');

describe('an entry of the ledger, as it is stored', () => {
  it('is read as it was written, with its members in the order that the hash is made of', () => {
    const read = decodeLedgerEntry(encodeLedgerEntry(entry), entry.seq);
    expect(JSON.stringify(read)).to.equal(JSON.stringify(entry));
  });

  it('has its two hashes as 32 bytes each', () => {
    const { prevHash, hash, ...members } = entry;
    const stored = encodeLedgerEntry(entry);
    expect(stored.includes(Buffer.from(hash + prevHash, 'utf8').subarray(0, 64))).to.equal(false);
    expect(stored.includes(Buffer.from(prevHash + hash, 'hex'))).to.equal(true);
    expect(stored).to.have.length(5 + 1 + 64 + Buffer.byteLength(JSON.stringify(members)));
  });

  it('is read in the form of the store versions up to 6, which is JSON', () => {
    expect(decodeLedgerEntry(sealText(JSON.stringify(entry)), entry.seq)).to.deep.equal(entry);
  });

  it('is an error that names the entry when a byte differs', () => {
    const stored = encodeLedgerEntry(entry);
    stored.writeUInt8(stored.readUInt8(20) ^ 1, 20);
    expect(readLedgerEntry(stored, 1))
      .to.be.instanceOf(CorruptRecord)
      .with.property('message', 'ledger entry 1: checksum does not match');
  });
});
