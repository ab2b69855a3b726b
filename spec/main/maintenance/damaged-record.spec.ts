import { randomUUID } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { storeDirectory } from '../../../src/main/process/directories.ts';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import type { LedgerEntry } from '../../../src/store/ledger/ledger.ts';
import { eventKey, notificationAddress, notificationOfEventKey } from '../../../src/store/encoding/keyspace.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import type { TableName } from '../../../src/store/records/records.ts';
import { jsonOf } from '../../support/agent-client.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { runCommand } from '../../support/backend-command.ts';
import { BackendProcess, initialiseState } from '../../support/backend-process.ts';
import { checkEvent, keepalive, proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { damageRecords } from '../../store/maintenance/record-damage.ts';

/** The ids of the agents' queues. */
const QUEUES = { a: randomUUID(), b: randomUUID() };
const CHECK = {
  metadata: { name: 'cpu', namespace: 'default' },
  command: 'true',
  interval: 1,
  subscriptions: ['linux'],
};
const SILENCE = { metadata: { name: 'linux:*', namespace: 'default' }, subscription: 'linux' };
const FAILED = proxyEvent('web', 'disk', { status: 2, handlers: ['gone'], ttl: 600 });
const OPEN = proxyEvent('db', 'disk', { status: 2 });

/** Records by their keys, or the first of their table. */
const DAMAGED: readonly [TableName, string?][] = [
  ['events', 'default/web/disk'],
  ['entities', 'default/a'],
  ['entities', 'default/web'],
  ['resources', 'checks/default/cpu'],
  ['resources', 'entities/default/b'],
  ['resources', 'entities/default/web'],
  ['resources', 'namespaces/default'],
  ['resources', 'silenced/default/linux:*'],
  ['resources', 'token-sessions/admin'],
  ['sessions'],
  ['agentQueues', 'default/a'],
  ['openStreaks'],
  ['ticks', 'checks/default/cpu'],
  ['ticks', 'outages'],
  ['incidents', 'default/db/disk'],
];

describe('a store with damaged records', function () {
  this.timeout(60_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let stateDir: string;
  let backend: BackendProcess;
  let api: ApiClient;

  async function start(): Promise<void> {
    backend = await BackendProcess.start({ stateDir });
    api = await backend.login();
  }

  beforeEach(async () => {
    stateDir = join(directory.path, 'state');
    await initialiseState(stateDir);
    await start();
  });

  afterEach(() => backend.stop());

  async function kill(): Promise<void> {
    await backend.kill();
    await backend.remove();
  }

  /** Connects an agent, which sends a keepalive and the n-th event of its queue, and waits for the acknowledgement. */
  async function sendFrom(name: keyof typeof QUEUES, n: number): Promise<void> {
    const agent = await backend.connect({ name, subscriptions: ['linux'], queueId: QUEUES[name] });
    agent.send('keepalive', keepalive(name));
    agent.send(`event ${n}`, checkEvent(name, 'sent', { output: `m${n}` }));
    let frame = await agent.nextFrame();
    while (frame.type !== 'ack') frame = await agent.nextFrame();
    expect(jsonOf(frame)).to.equal(n);
  }

  /** The first notification, and both index entries of the last one. */
  async function notificationRecords(): Promise<[TableName, string][]> {
    const store = new LmdbStore({ directory: storeDirectory(stateDir), sync: 'none', readOnly: true });
    const log = [...store.range('notificationLog', { from: '', to: '~' })];
    await store.close();
    const [first, last] = [log[0], log.at(-1)];
    if (first === undefined || last === undefined || first === last) return expect.fail('two notifications are needed');
    const { namespace, entity, check, number } = notificationAddress(last.key);
    return [
      ['notificationLog', first.key],
      ['notificationsByEvent', notificationOfEventKey(eventKey(namespace, entity, check), number)],
      ['notificationsById', last.value.id],
    ];
  }

  const damage = (records = DAMAGED): Promise<string[]> => damageRecords(storeDirectory(stateDir), records);

  async function create(kind: string, body: object): Promise<void> {
    expect((await api.post(`/ns/default/${kind}`, body)).status).to.be.oneOf([200, 201]);
  }

  const ownEvent = (): Promise<unknown> => api.event(hostname(), 'damaged-records', 'mon-system');

  const reported = async (): Promise<LedgerEntry[]> =>
    (await api.ledger({ actor: 'store' })).filter(({ event }) => event === 'record.damaged');

  it('sets them aside at its start, reports them once, and goes on without them', async () => {
    await create('checks', CHECK);
    await create('silenced', SILENCE);
    await create('events', FAILED);
    await create('events', OPEN);
    await sendFrom('a', 1);
    await sendFrom('b', 1);
    await kill();
    const damaged = await damage([...DAMAGED, ...(await notificationRecords())]);
    await start();

    const entries = await reported();
    expect(entries.map(({ key }) => key)).to.have.members(damaged);
    const files = new Set(entries.map(({ details }) => String(at(details, 'file'))));
    expect(files.size).to.equal(damaged.length);
    for (const file of files) expect(statSync(file).size).to.be.above(0);
    const restored = entries.filter(({ details }) => at(details, 'now') === 'restored').map(({ key }) => key);
    expect(restored).to.include.members(['resources/namespaces/default', 'incidents/default/db/disk']);
    expect(restored).to.have.length(4);
    expect(await ownEvent()).to.have.nested.property('check.status', 2);

    for (const name of ['a', 'b'] as const) {
      await sendFrom(name, 2);
      expect(await api.event(name, 'sent')).to.have.nested.property('check.output', 'm2');
      expect(await api.entity(name)).to.have.property('entity_class', 'agent');
    }
    expect([await api.event('web', 'disk'), await api.entity('web')]).to.deep.equal([undefined, undefined]);
    expect((await api.get('/ns/default/silenced')).json).to.deep.equal([]);
    await create('checks', CHECK);
    await create('silenced', SILENCE);
    await create('events', FAILED);
    await backend.stop();

    const { code, stdout } = await runCommand(['check-store', '--state-dir', stateDir]);
    expect(code, stdout).to.equal(0);
    await start();
    expect(await reported()).to.have.length(damaged.length);
  });

  it('starts without them when they cannot be set aside', async () => {
    await create('checks', CHECK);
    await create('events', FAILED);
    await sendFrom('a', 1);
    await kill();
    await damage([['events', 'default/web/disk'], ['resources', 'checks/default/cpu'], ['sessions']]);
    writeFileSync(join(stateDir, 'quarantine'), 'a file');
    await start();
    const errors = backend.logs.filter((line) => at(line, 'level') === 'error').map((line) => at(line, 'msg'));
    expect(errors).to.deep.equal([
      'damaged records of the store cannot be set aside; make the quarantine directory writable, or move files out of it, and restart the backend',
      ...Array<string>(3).fill('record is damaged and not monitored'),
    ]);
    await sendFrom('a', 2);
  });

  it('does not start with more than 500 of them', async () => {
    await backend.stop();
    const store = new LmdbStore({ directory: storeDirectory(stateDir), sync: 'none' });
    const puts = emptyPuts();
    for (let n = 0; n < 501; n += 1) puts.resources.set(`stashes/default/${n}`, {});
    await store.write({ puts, ledger: [] });
    await store.close();
    await damage([...puts.resources.keys()].map((key) => ['resources', key]));
    const { code, stderr } = await runCommand(['start', '--state-dir', stateDir]);
    expect(code).to.equal(5);
    expect(stderr).to.include('more than 500 records are damaged; restore the latest backup');
  });
});
