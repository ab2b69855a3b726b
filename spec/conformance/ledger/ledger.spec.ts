import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Database, open } from 'lmdb';
import { storeDirectory } from '../../../src/main/process/directories.ts';
import type { LedgerEntry } from '../../../src/store/ledger/ledger.ts';
import { type TextTable, textTable } from '../../../src/store/lmdb/lmdb-environment.ts';
import { runProgram } from '../../support/backend-process.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend, START_MS } from '../../support/restartable-backend.ts';

describe('the ledger', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());

  /** Two agents that fall silent, one after the other. */
  beforeEach(async () => {
    for (const name of ['led-1', 'led-2']) {
      const agent = await ReportingAgent.connect(backend, name);
      await agent.keepalive({ interval: 2, timeout: 5, ttl: 8 });
      await backend.clock.advance(10_000);
    }
  });

  async function entries(query: Record<string, string>): Promise<LedgerEntry[]> {
    const { status, json } = await api.get(`/api/mon/v1/ledger?${new URLSearchParams(query).toString()}`);
    expect(status).to.equal(200);
    return (json as { entries: LedgerEntry[] }).entries;
  }

  describe('when it is queried', () => {
    it('returns entries by actor and key', async () => {
      const found = await entries({ actor: 'entity', key: 'default/led-1' });
      expect(found.map(({ to }) => to)).to.deep.equal(['registered', 'warning', 'critical']);
      expect(await entries({ actor: 'entity', key: 'default/led' })).to.deep.equal([]);
      const ofKey = await entries({ key: 'default/led-2' });
      expect(ofKey.map(({ actor, key }) => [actor, key])).to.deep.equal([
        ['agent-session', 'default/led-2'],
        ['entity', 'default/led-2'],
        ['entities', 'default/led-2'],
        ['entity', 'default/led-2'],
        ['entity', 'default/led-2'],
      ]);
      expect((await entries({ actor: 'entity' })).every(({ actor }) => actor === 'entity')).to.equal(true);
    });

    it('returns entries by time', async () => {
      const beganS = START_MS / 1_000;
      const since = await entries({ actor: 'entity', key: 'default/led-1', since: String(beganS + 5) });
      expect(since.map(({ to }) => to)).to.deep.equal(['warning', 'critical']);
      const until = await entries({ actor: 'entity', key: 'default/led-1', until: String(beganS + 5) });
      expect(until.map(({ to }) => to)).to.deep.equal(['registered', 'warning']);
      const iso = new Date(START_MS + 8_000).toISOString();
      const both = await entries({ actor: 'entity', key: 'default/led-1', since: iso, until: iso });
      expect(both.map(({ to }) => to)).to.deep.equal(['critical']);
    });

    it('returns pages that together form the whole chain', async () => {
      const all = await entries({ limit: '1000' });
      const paged: LedgerEntry[] = [];
      for (let after: unknown = '0'; typeof after === 'string';) {
        const { headers, json } = await api.get(`/api/mon/v1/ledger?limit=3&continue=${after}`);
        const page = (json as { entries: LedgerEntry[] }).entries;
        expect(page.length).to.be.within(1, 3);
        paged.push(...page);
        after = headers['sensu-continue'];
      }
      expect(paged).to.deep.equal(all);
      expect(all.map(({ seq }) => seq)).to.deep.equal(all.map((_, index) => index + 1));
      for (const [index, { prevHash }] of all.entries()) {
        expect(prevHash).to.equal(index === 0 ? '0'.repeat(64) : all[index - 1]?.hash);
      }
    });

    for (const query of ['limit=0', 'limit=x', 'since=yesterday', 'continue=-1']) {
      it(`refuses ${query}`, async () => {
        expect(await api.get(`/api/mon/v1/ledger?${query}`)).to.have.property('status', 400);
      });
    }
  });

  describe('when it is verified', () => {
    const verified = (...more: string[]) => runProgram(['ledger', 'verify', '--state-dir', backend.stateDir, ...more]);

    /** Changes the raw entries of the stopped backend. */
    async function tamper(
      change: (ledger: Database<Buffer, number>, index: TextTable, byActor: TextTable) => Promise<unknown>,
    ): Promise<void> {
      await backend.halt();
      const root = open<Buffer, string>({ path: storeDirectory(backend.stateDir), encoding: 'binary', maxDbs: 16 });
      try {
        const [index, byActor] = [textTable(root, 'ledgerByKey'), textTable(root, 'ledgerByActor')];
        const ledger = root.openDB<Buffer, number>({ name: 'ledger', encoding: 'binary', keyEncoding: 'uint32' });
        await change(ledger, index, byActor);
      } finally {
        await root.close();
      }
    }

    it('is intact when it was not changed', async () => {
      await backend.halt();
      const head = await backend.withStore((store) => store.ledgerHead());
      const { code, stdout, stderr } = await verified();
      expect(code).to.equal(0);
      expect(`${stdout}${stderr}`).to.include(`${head.seq}:${head.hash}`);
    });

    it('is broken at an entry with one changed byte', async () => {
      await tamper((ledger) => {
        const bytes = Buffer.from(ledger.get(4) ?? Buffer.alloc(0));
        const place = bytes.length - 10;
        bytes[place] = (bytes[place] ?? 0) ^ 1;
        return ledger.put(4, bytes);
      });
      const { code, stdout, stderr } = await verified();
      expect(code).to.not.equal(0);
      expect(`${stdout}${stderr}`).to.match(/\b4\b/);
    });

    it('is broken at an entry that was replaced by a valid entry from another position', async () => {
      await tamper((ledger) => ledger.put(5, Buffer.from(ledger.get(6) ?? Buffer.alloc(0))));
      const { code, stdout, stderr } = await verified();
      expect(code).to.not.equal(0);
      expect(`${stdout}${stderr}`).to.match(/\b5\b/);
    });

    it('is broken at a removed entry', async () => {
      await tamper((ledger) => ledger.remove(3));
      const { code, stdout, stderr } = await verified();
      expect(code).to.not.equal(0);
      expect(`${stdout}${stderr}`).to.match(/entry 3 is missing/);
    });

    describe('with its indexes', () => {
      const keyOf = (index: TextTable, seq: number): string =>
        [...index.getKeys()].find((key) => key.endsWith(`#${String(seq).padStart(16, '0')}`)) ?? '';

      it('is broken at an entry that the index by key does not contain', async () => {
        await tamper((_, index) => index.remove(keyOf(index, 3)));
        const { code, stderr } = await verified();
        expect([code, stderr]).to.deep.equal([1, 'ledger broken at entry 3: the index by key does not contain it\n']);
      });

      it('is broken at an entry that the index by actor does not contain', async () => {
        await tamper((_, __, byActor) => byActor.remove('entity#000000'));
        const { code, stderr } = await verified();
        expect(code).to.equal(1);
        expect(stderr).to.include('the index by actor does not contain it');
      });

      it('is broken at an index key without an entry', async () => {
        await tamper((_, index) => index.put('entity/default/ghost#0000000000000003', Buffer.alloc(0)));
        const { code, stderr } = await verified();
        expect(code).to.equal(1);
        expect(stderr).to.include('ledger broken at entry 3: the index by key contains "entity/default/ghost#');
      });

      it('is broken at a block of an actor without an entry', async () => {
        await tamper((_, __, byActor) => byActor.put('ghost#000000', Buffer.alloc(0)));
        const { code, stderr } = await verified();
        expect(code).to.equal(1);
        expect(stderr).to.include('the index by actor contains "ghost#000000"');
      });

      it('is broken where only the end of the ledger was cut off', async () => {
        await backend.halt();
        const { seq } = await backend.withStore((store) => store.ledgerHead());
        await tamper((ledger) => ledger.remove(seq));
        const { code, stderr } = await verified();
        expect(code).to.equal(1);
        expect(stderr).to.include(`ledger broken at entry ${seq}: the index by key contains`);
      });

      it('is intact while a backend uses it', async () => {
        expect(await verified()).to.have.property('code', 0);
      });
    });

    it('is reported as damaged when the end of the data file is missing', async () => {
      await backend.halt();
      const file = join(storeDirectory(backend.stateDir), 'data.mdb');
      truncateSync(file, Math.floor(statSync(file).size / 2));
      const { code, stderr } = await verified();
      expect([code, stderr]).to.deep.equal([5, stderr]);
      expect(stderr).to.include(`the store is damaged: ${file}: page `);
    });

    describe('against an external anchor', () => {
      it('is intact if it has held the anchored entry since then', async () => {
        const { anchor } = backend.log.lines.find(({ msg }) => msg === 'ledger anchored')?.fields ?? {};
        await backend.halt();
        expect(await verified('--anchor', String(anchor))).to.have.property('code', 0);
      });

      it('is broken where its end was cut off, together with the index', async () => {
        await backend.halt();
        const { seq, hash } = await backend.withStore((store) => store.ledgerHead());
        const digits = String(seq).padStart(16, '0');
        await tamper(async (ledger, index) => {
          await ledger.remove(seq);
          const keys = [...index.getKeys()].filter((key) => key.endsWith(`#${digits}`));
          for (const key of keys) await index.remove(key);
        });
        expect(await verified()).to.have.property('code', 0);
        const { code, stderr } = await verified('--anchor', `${seq}:${hash}`);
        expect(code).to.equal(1);
        expect(stderr).to.match(
          new RegExp(`^the ledger ends at entry ${seq - 1}:\\w{64}, before the anchored entry ${seq}; its chain`),
        );
        expect(stderr)
          .to.include('its end was cut off')
          .and.include('restored from a backup')
          .and.not.include('broken');
      });

      it('is broken where all of it was rewritten', async () => {
        await backend.halt();
        const { code, stderr } = await verified('--anchor', `3:${'0'.repeat(64)}`);
        expect(code).to.equal(1);
        expect(stderr).to.include('ledger broken at entry 3: hash does not match the anchor');
      });

      it('is not verified against an invalid anchor', async () => {
        const { code, stderr } = await verified('--anchor', '3:abc');
        expect(code).to.not.equal(0);
        expect(stderr).to.include('anchor').and.to.include('number:hash');
      });
    });
  });

  it('records which user changed what, without values', async () => {
    const metadata = { name: 'led-check', namespace: 'default' };
    const check = { metadata, command: 'first-secret', interval: 60, publish: false };
    await api.put('/ns/default/checks/led-check', check);
    await api.put('/ns/default/checks/led-check', { ...check, command: 'second-secret' });
    await api.delete('/ns/default/checks/led-check');
    const found = await entries({ actor: 'checks', key: 'default/led-check' });
    expect(found.map(({ event, cause }) => [event, cause])).to.deep.equal([
      ['resource.created', { user: 'admin' }],
      ['resource.updated', { user: 'admin' }],
      ['resource.deleted', { user: 'admin' }],
    ]);
    expect(at(found[1], 'details', 'changed')).to.include('command');
    expect(JSON.stringify(found)).to.not.include('secret');
    const revisions = found.map(({ configRevision }) => configRevision);
    expect(revisions).to.deep.equal([0, 1, 2].map((step) => (revisions[0] ?? 0) + step));
  });
});
