import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DamagedEntry } from '../../../src/actors/supervision/damaged-outbox.ts';
import { OutboxQuarantine } from '../../../src/main/serve/outbox-quarantine.ts';
import { CorruptRecord } from '../../../src/store/encoding/sealed.ts';
import { perTest } from '../../support/fixture.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const BYTES = Buffer.from('damaged');

describe('the quarantine of the outbox', () => {
  const temporary = perTest(temporaryDirectory, (made) => made.remove());
  let log: RecordedLog;
  let removed: DamagedEntry[];

  beforeEach(() => {
    log = new RecordedLog();
    removed = [];
  });

  const quarantine = (changes: Partial<ConstructorParameters<typeof OutboxQuarantine>[0]> = {}): OutboxQuarantine =>
    new OutboxQuarantine({
      read: (outboxKey) => {
        throw new CorruptRecord(`outbox ${outboxKey}: checksum does not match`, BYTES);
      },
      remove: (entry) => {
        removed.push(entry);
        return Promise.resolve();
      },
      directory: join(temporary.path, 'quarantine'),
      log,
      ...changes,
    });

  it('sets an entry aside once, however often it is read', async () => {
    const made = quarantine();
    for (let times = 0; times < 3; times += 1) expect(made.entry('7')).to.equal(undefined);
    await made.settled();
    const file = join(temporary.path, 'quarantine', 'outbox-7');
    expect(removed).to.deep.equal([
      { outboxKey: '7', error: 'outbox 7: checksum does not match', file, bytes: BYTES.length },
    ]);
    expect(readFileSync(file).equals(BYTES)).to.equal(true);
    expect([made.found, log.errors.length]).to.deep.equal([1, 1]);
  });

  it('leaves an entry in the store that it cannot write, or whose removal fails', async () => {
    writeFileSync(join(temporary.path, 'quarantine'), 'a file');
    const blocked = quarantine();
    blocked.entry('1');
    await blocked.settled();
    expect(removed).to.deep.equal([]);
    const failing = quarantine({
      directory: join(temporary.path, 'other'),
      remove: () => Promise.reject(new Error('the store cannot be written')),
    });
    failing.entry('1');
    await failing.settled();
    expect(log.errors.map(({ msg }) => msg)).to.deep.equal([
      'an entry of the outbox is damaged and cannot be set aside',
      'an entry of the outbox is damaged and cannot be set aside',
    ]);
    expect([blocked.found, failing.found]).to.deep.equal([1, 1]);
  });

  it('leaves entries in the store when there are 1,000 files, and says so once', async () => {
    const directory = join(temporary.path, 'quarantine');
    mkdirSync(directory);
    for (let file = 0; file < 999; file += 1) writeFileSync(join(directory, `outbox-${file}`), '');
    const made = quarantine();
    for (const key of ['a', 'b', 'c']) made.entry(key);
    await made.settled();
    expect(removed.map(({ outboxKey }) => outboxKey)).to.deep.equal(['a']);
    expect(readdirSync(directory)).to.have.lengthOf(1_000);
    expect(made.found).to.equal(3);
    expect(log.errors.filter(({ msg }) => msg.includes('cannot be set aside'))).to.have.lengthOf(1);
  });

  it('passes on other errors of the store', () => {
    const made = quarantine({
      read: () => {
        throw new Error('the store is closed');
      },
    });
    expect(() => made.entry('1')).to.throw('the store is closed');
    expect(made.found).to.equal(0);
  });
});
