import { expect } from 'chai';
import { parseEvent } from '../../../src/resources/event.ts';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { outboxKey } from '../../../src/store/encoding/keyspace.ts';
import type { ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const WAITING = 100_000;
const metadata = (name: string) => ({ name, namespace: 'default' });

describe('a backend whose outbox is full', function () {
  this.timeout(60_000);
  const backend = perSuite(() => RestartableBackend.start());
  let api: ApiClient;

  /** Everything waits behind the first notification, whose command does not end. */
  before(async () => {
    api = await backend.login();
    const slow = { metadata: metadata('slow'), type: 'pipe', command: 'sleep 600', timeout: 2 };
    await api.put('/ns/default/handlers/slow', slow);
    await api.put('/ns/default/checks/runs', {
      metadata: metadata('runs'),
      command: 'true',
      subscriptions: ['linux'],
      interval: 60,
    });
    await backend.halt();
    await backend.withStore((store) => {
      const puts = emptyPuts();
      const event = parseEvent({ ...proxyEvent('sw-1', 'port', { status: 1 }) });
      for (let seq = 1; seq <= WAITING; seq += 1) {
        const entry = { notificationId: String(seq), namespace: 'default', handler: 'slow', decidedAtMs: 0 };
        puts.outbox.set(outboxKey(seq), { ...entry, key: 'default/sw-1/port', event });
      }
      return store.write({ puts, ledger: [] });
    });
    await backend.resume();
    api = await backend.login();
  });

  const isRefused = ({ status, headers, json }: ApiAnswer): void => {
    expect(status).to.equal(503);
    expect(headers).to.have.property('retry-after', '1');
    expect(at(json, 'message')).to.equal('too many events wait in the outbox for their handlers');
  };

  it('refuses events and check runs, and names what is full', async () => {
    const put = () => api.put('/ns/default/events/sw-1/port', proxyEvent('sw-1', 'port', { status: 1 }));
    isRefused(await eventually(put, ({ status }) => status === 503, { what: 'a full outbox', withinMs: 30_000 }));
    isRefused(await api.request({ method: 'POST', path: '/ns/default/checks/runs/execute', body: { check: 'runs' } }));
  });

  const changes: [string, string, unknown][] = [
    ['a handler', '/ns/default/handlers/new', { metadata: metadata('new'), type: 'pipe', command: 'true' }],
    [
      'a check',
      '/ns/default/checks/new',
      { metadata: metadata('new'), command: 'true', subscriptions: ['linux'], interval: 60 },
    ],
    ['an entity', '/ns/default/entities/new', { metadata: metadata('new'), entity_class: 'proxy' }],
    [
      'a silence',
      '/ns/default/silenced/linux:new',
      { metadata: metadata('linux:new'), subscription: 'linux', check: 'new' },
    ],
    ['a namespace', '/api/core/v2/namespaces/new', { name: 'new' }],
    [
      'a role',
      '/ns/default/roles/new',
      { metadata: metadata('new'), rules: [{ verbs: ['get'], resources: ['checks'], resource_names: null }] },
    ],
    ['a user', '/api/core/v2/users/new', { username: 'new', password: 'N3w-P@ssw0rd' }],
  ];
  for (const [what, path, body] of changes) {
    it(`accepts ${what} and its deletion`, async () => {
      const { status, text } = await api.put(path, body);
      expect(status, text).to.be.oneOf([200, 201]);
      expect(await api.request({ method: 'DELETE', path })).to.have.property('status', 204);
    });
  }

  it('is ready and accepts logins', async () => {
    expect(await api.get('/ready')).to.have.property('status', 200);
    const again = await backend.login();
    expect(await again.get('/ns/default/handlers')).to.have.property('status', 200);
  });

  it('continues to receive keepalives, and records that their handlers are skipped when nothing changed', async () => {
    const agent = await ReportingAgent.connect(backend, 'web-1');
    for (let times = 0; times < 3; times += 1) await agent.keepalive({ entity: { keepalive_handlers: ['slow'] } });
    const { json } = await api.get('/api/mon/v1/namespaces/default/events/web-1/keepalive/notifications');
    const outcomes = (json as object[]).map((one) => [
      at(one, 'handler'),
      at(one, 'outcome'),
      at(one, 'reason'),
      at(one, 'count'),
    ]);
    const skipped = ['slow', 'skipped', 'too many events wait in the outbox for their handlers', 3];
    expect(outcomes).to.deep.equal([skipped]);
  });

  it('drops pending notifications when their handler is deleted, and accepts events again', async () => {
    expect(await api.request({ method: 'DELETE', path: '/ns/default/handlers/slow' })).to.have.property('status', 204);
    await backend.clock.advance(2_000);
    const put = () => api.put('/ns/default/events/sw-1/port', proxyEvent('sw-1', 'port', { status: 1 }));
    await eventually(put, ({ status }) => status === 200);
  });
});
