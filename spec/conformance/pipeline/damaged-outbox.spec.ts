import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { storeDirectory } from '../../../src/main/process/directories.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { outboxKey } from '../../../src/store/encoding/keyspace.ts';
import type { OutboxEntry } from '../../../src/store/records/records.ts';
import { openEnvironment, textTable } from '../../../src/store/lmdb/lmdb-environment.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { HandlerSink } from '../../support/handler-sink.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { readLedger } from '../../support/read-ledger.ts';

const CHECKS = ['first', 'damaged', 'last'];
const DAMAGED = outboxKey(2);
const MESSAGE = 'an event is not handled, because its entry in the outbox is damaged';

const entryOf = (check: string): OutboxEntry => ({
  notificationId: `id-${check}`,
  namespace: 'default',
  handler: 'sink',
  key: `default/web/${check}`,
  event: parseEvent(proxyEvent('web', check, { status: 2 })),
  decidedAtMs: 0,
});

describe('an entry of the outbox that is damaged', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const sink = perSuite(
    () => HandlerSink.listen(),
    (made) => made.close(),
  );

  /** Changes one byte of stored values. */
  async function damage(changes: readonly ['outbox' | 'attempts', string][]): Promise<Buffer[]> {
    const raw = openEnvironment({ directory: storeDirectory(backend.stateDir), sync: 'full' });
    const damaged = changes.map(([table, key]) => {
      const values = textTable(raw, table);
      const bytes = Buffer.from(values.get(key) ?? expect.fail(`no ${table} ${key}`));
      bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
      values.putSync(key, bytes);
      return bytes;
    });
    await raw.close();
    return damaged;
  }

  it('is set aside, logged, counted and shown, and the others are handled', async () => {
    const api = await backend.login();
    const socket = { host: '127.0.0.1', port: sink.port };
    const handler = { metadata: { name: 'sink', namespace: 'default' }, type: 'tcp', socket };
    expect(await api.put('/ns/default/handlers/sink', handler)).to.have.property('status', 201);
    await backend.halt();
    await backend.withStore((store) => {
      const puts = emptyPuts();
      for (const [index, check] of CHECKS.entries()) {
        puts.outbox.set(outboxKey(index + 1), entryOf(check));
        puts.attempts.set(outboxKey(index + 1), { attempts: 1, firstAttemptAtMs: 0 });
      }
      puts.meta.set('outbox-seq', CHECKS.length);
      return store.write({ puts, ledger: [] });
    });
    const [bytes] = await damage([
      ['outbox', DAMAGED],
      ['attempts', DAMAGED],
      ['attempts', outboxKey(1)],
    ]);
    await backend.resume();
    await eventually(() => sink.events.length === 2, Boolean, { what: 'the events of the other entries' });
    const checks = sink.events.map((event) => at(event, 'check', 'metadata', 'name'));
    expect(checks).to.have.members(['first', 'last']);

    const error = await eventually(() => backend.log.errors.find(({ msg }) => msg === MESSAGE));
    const file = join(backend.stateDir, 'quarantine', `outbox-${DAMAGED}`);
    expect(error?.fields).to.include({ outboxKey: DAMAGED, file });
    expect(readFileSync(file).equals(bytes ?? Buffer.alloc(0))).to.equal(true);
    const again = await backend.login();
    const entry = readLedger(backend.store).find(({ event }) => event === 'entry.damaged');
    expect(entry).to.include({ actor: 'outbox', key: DAMAGED, to: 'quarantined' });
    const events = (await again.get('/api/core/v2/namespaces/mon-system/events')).json as object[];
    const own = events.find((event) => at(event, 'check', 'metadata', 'name') === 'damaged-outbox');
    expect([at(own, 'check', 'status'), at(own, 'check', 'output')]).to.deep.equal([
      2,
      `the entry ${DAMAGED} of the outbox is damaged and was not handled; its bytes are in ${file}`,
    ]);
    expect((await again.get('/metrics')).text).to.match(/^mon_outbox_damaged_total 1$/m);
    await eventually(() => [...backend.store.keys('outbox', { from: '', to: '~' })].length === 0);
    expect([...backend.store.keys('attempts', { from: '', to: '~' })]).to.deep.equal([]);
  });

  it('is not found again at the next start', async () => {
    backend.log.lines.length = 0;
    await backend.restart();
    await backend.login();
    expect(backend.log.errors).to.deep.equal([]);
    expect(readdirSync(join(backend.stateDir, 'quarantine'))).to.deep.equal([`outbox-${DAMAGED}`]);
  });

  it('stays in the store when it cannot be set aside, and the search lists the others', async () => {
    await backend.halt();
    const directory = join(backend.stateDir, 'quarantine');
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'a file');
    const key = outboxKey(11);
    await backend.withStore((store) => {
      const puts = emptyPuts();
      puts.outbox.set(key, entryOf('stays'));
      return store.write({ puts, ledger: [] });
    });
    await damage([['outbox', key]]);
    await backend.resume();
    await eventually(() => backend.log.errors.some(({ msg }) => msg.includes('cannot be set aside')));
    const api = await backend.login();
    const { status, json } = await api.get('/api/mon/v1/namespaces/default/notifications?outcome=waiting');
    expect([status, json]).to.deep.equal([200, []]);
    expect([...backend.store.keys('outbox', { from: '', to: '~' })]).to.deep.equal([key]);
  });
});
