import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import {
  eventOfNotification,
  notificationKey,
  numberOfEventNotification,
} from '../../../src/store/encoding/keyspace.ts';
import {
  DOWN_MS,
  FIXTURE_MS,
  FIXTURES,
  REPLAY_MS,
  replayOf,
  type StoredFixture,
  unpackFixture,
} from '../../store/stored-fixtures.ts';
import { upgraded } from '../../store/upgraded.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend, START_MS } from '../../support/restartable-backend.ts';
import { readLedger } from '../../support/read-ledger.ts';

/** Above every key. */
const ALL = { from: '', to: '~' };

/** The notifications of an event that a store before version 5 keeps. */
const KEPT_BEFORE = 20;

/** The transitions that alert, or that end an alert. */
const ALERTING = ['check-ttl', 'entity', 'check-state', 'silence'];

for (const fixture of FIXTURES) {
  describe(`a backend on the upgraded store ${fixture.name}`, () => {
    const backend = perTest(() => startOn(fixture));

    beforeEach(() => {
      process.env['MON_SPEC_HANDLER'] = 'true';
    });

    afterEach(() => {
      delete process.env['MON_SPEC_HANDLER'];
    });

    const names = async (api: ApiClient, path: string): Promise<unknown[]> =>
      ((await api.get(path)).json as unknown[]).map(
        (item) => at(item, 'metadata', 'name') ?? at(item, 'name') ?? at(item, 'username'),
      );

    it('answers with what the store contained', async () => {
      const api = await backend.login();
      const core = '/api/core/v2';
      expect(await names(api, `${core}/entities`)).to.include.members(['late', 'lost', 'rack', 'switch', 'web']);
      expect(await names(api, `${core}/namespaces`)).to.include.members(['default', 'ops']);
      expect(await names(api, `${core}/users`)).to.deep.equal(['admin', 'agent', 'ann']);
      expect(await names(api, `${core}/apikeys`)).to.have.length(1);
      expect(await names(api, '/ns/default/checks')).to.deep.equal(['cpu', 'nightly', 'ring']);
      expect(await names(api, '/ns/default/silenced')).to.deep.equal(['linux:disk', 'linux:load']);
      expect(await names(api, '/ns/default/handlers')).to.deep.equal(['alerts', 'slow']);
      expect(at(await api.event('web', 'disk'), 'check')).to.deep.include({ status: 1, silenced: ['linux:disk'] });
      expect(at(await api.event('web', 'flaky'), 'check')).to.include({ state: 'flapping' });
      expect(at(await api.event('lost', 'keepalive'), 'check')).to.include({ status: 2, state: 'failing' });
    });

    it('alerts exactly as the backend that wrote the store would', async () => {
      await backend.clock.advance(REPLAY_MS);
      await outboxIsEmpty(backend);
      const { decided, notified } = replayOf(fixture);
      const ledger = readLedger(backend.store, { sinceMs: FIXTURE_MS + 1 });
      // A backend before store version 5 records no change of the status within one state.
      const moves = fixture.version < 5 ? ledger.filter(({ from, to }) => from !== to) : ledger;
      const transitions = moves.map(({ atMs, actor, key, event, to }) => ({ atMs, actor, key, event, to }));
      const alerts = (all: typeof transitions) => all.filter(({ actor }) => ALERTING.includes(actor));
      expect(alerts(transitions)).to.deep.equal(alerts(decided));
      expect(alerts(decided)).to.have.length.above(5);
      const sent = [...backend.store.range('notificationsByEvent', ALL)].flatMap(({ key }) => {
        const event = eventOfNotification(key);
        const value = backend.store.get('notificationLog', notificationKey(event, numberOfEventNotification(key)));
        if (value === undefined) throw new Error(`there is no notification ${key}`);
        const { id, handler, outcome, decidedAtMs } = value;
        return { key: event, id, handler, outcome, decidedAtMs };
      });
      // An older backend does not record everything that does not run.
      const runs = (all: typeof notified) =>
        all
          .filter(({ outcome }) => outcome !== 'denied' && outcome !== 'skipped')
          .map(({ key, handler, outcome, decidedAtMs }) => ({ key, handler, outcome, decidedAtMs }));
      // It keeps only the latest of an event.
      const ofKey = (all: typeof notified, key: string) => runs(all.filter((one) => one.key === key));
      for (const key of new Set([...sent, ...notified].map((one) => one.key))) {
        const expected = ofKey(notified, key);
        const isCut = notified.filter((one) => one.key === key).length === KEPT_BEFORE;
        const found = ofKey(sent, key);
        expect(isCut ? found.slice(-expected.length) : found, key).to.deep.equal(expected);
      }
      const pending = notified.filter(({ decidedAtMs }) => decidedAtMs <= FIXTURE_MS).map(({ id }) => id);
      expect(sent.map(({ id }) => id)).to.include.members(pending);
    });
  });
}

const outboxIsEmpty = (backend: RestartableBackend): Promise<number> =>
  eventually(
    () => [...backend.store.keys('outbox', ALL)].length,
    (count) => count === 0,
    { what: 'an empty outbox' },
  );

/** A backend that was down since the fixture was written, and runs on the upgraded store. */
async function startOn(fixture: StoredFixture): Promise<RestartableBackend> {
  const backend = await RestartableBackend.start();
  try {
    await backend.halt();
    const store = join(backend.stateDir, 'store');
    rmSync(store, { recursive: true });
    unpackFixture(fixture, store);
    await upgraded(backend.stateDir);
    await backend.clock.advance(FIXTURE_MS - START_MS + DOWN_MS);
    await backend.resume();
    return backend;
  } catch (error) {
    await backend.stop();
    throw error;
  }
}
