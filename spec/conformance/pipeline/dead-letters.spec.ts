import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { settle } from '../../../src/actors/events/settle-notification.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import type { Notification, OutboxEntry } from '../../../src/store/records/records.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { DecisionsOn } from '../../support/decision-on.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend, START_MS } from '../../support/restartable-backend.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const SEARCH = '/api/mon/v1/namespaces/default/notifications';
const KEY = 'default/sw-1/port';
const ID = '6d4b1b5e-0000-4000-8000-000000000001';
const DAY_MS = 86_400_000;

const ENTRY: OutboxEntry = {
  notificationId: ID,
  namespace: 'default',
  handler: 'note',
  key: KEY,
  event: { ...parseEvent(proxyEvent('sw-1', 'port', { status: 2 })), id: 'the-event' },
  decidedAtMs: START_MS,
};

const FAILED: Notification = {
  id: ID,
  handler: 'note',
  eventId: 'the-event',
  outcome: 'failed',
  reason: 'connect ECONNREFUSED',
  status: undefined,
  attempts: 7,
  decidedAtMs: START_MS,
  atMs: START_MS,
  durationMs: 3_600_000,
  isDeadLetter: true,
};

describe('a dead letter', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const backend = perTest(() => RestartableBackend.start());
  let api: ApiClient;

  beforeEach(async () => {
    api = await backend.login();
    await api.put('/ns/default/handlers/note', {
      metadata: { name: 'note', namespace: 'default' },
      type: 'pipe',
      command: `echo $MON_NOTIFICATION_ID >> ${directory.path}/ids; cat >> ${directory.path}/events`,
    });
    await backend.halt();
    await backend.withStore(async (store) => {
      const decisions = new DecisionsOn(store);
      await decisions.decide((ctx) => {
        settle(ctx, { outboxKey: '0000000000000001', key: KEY, notification: FAILED, entry: ENTRY });
      });
    });
    await backend.resume();
    api = await backend.login();
  });

  const listed = async (query: string): Promise<unknown[]> => (await api.get(`${SEARCH}?${query}`)).json as unknown[];
  const replay = (id: string) => api.post(`${SEARCH}/${id}/replay`, {});

  it('is listed', async () => {
    const [letter, ...others] = await listed('dead_letter=true');
    expect(letter).to.deep.include({ id: ID, outcome: 'failed', dead_letter: true, attempts: 7 });
    expect(others).to.deep.equal([]);
    expect(at((await api.get(`${SEARCH}/${ID}`)).json, 'dead_letter')).to.equal(true);
  });

  it('runs again when it is replayed, with the same id and event, and is recorded with the user', async () => {
    expect(await replay(ID)).to.have.property('status', 204);
    const [handled] = await eventually(
      () => listed('outcome=handled'),
      (found) => found.length === 1,
      { what: 'the outcome of the replay' },
    );
    expect(handled).to.deep.include({ id: ID, event_id: 'the-event', dead_letter: false });
    expect(readFileSync(`${directory.path}/ids`, 'utf8')).to.equal(`${ID}\n`);
    const event = JSON.parse(readFileSync(`${directory.path}/events`, 'utf8')) as unknown;
    expect(at(event, 'check', 'status')).to.equal(2);
    const [failed] = await listed('outcome=failed');
    expect(failed).to.deep.include({ id: ID, dead_letter: false, replayed_by: 'admin', replayed_at: backend.nowS });
    const entries = await api.ledger({ actor: 'notification', key: KEY });
    expect(entries).to.have.lengthOf(1);
    expect(entries[0]).to.deep.include({
      from: 'dead-letter',
      event: 'notification.replayed',
      to: 'waiting',
      cause: { user: 'admin' },
    });
    expect(entries[0]?.details).to.deep.include({ notification: ID, handler: 'note', outcome: 'failed' });
    expect(await replay(ID)).to.have.property('status', 409);
    expect(await listed('dead_letter=true')).to.deep.equal([]);
  });

  it('that is unknown is answered with 404, and a notification that is none with 409', async () => {
    expect(await replay('unknown')).to.have.property('status', 404);
    await api.put('/ns/default/events/sw-1/fan', proxyEvent('sw-1', 'fan', { status: 1, handlers: ['note'] }));
    const [handled] = await eventually(
      () => listed('check=fan'),
      (found) => found.length === 1,
      { what: 'the outcome' },
    );
    const { status, json } = await replay(String(at(handled, 'id')));
    expect([status, at(json, 'message')]).to.deep.equal([409, 'the notification is not a dead letter']);
  });

  it('is dropped after the retention; its notification stays while its event exists', async () => {
    await api.put('/ns/default/events/sw-1/port', proxyEvent('sw-1', 'port', { status: 0 }));
    await backend.downFor(8 * DAY_MS);
    await backend.clock.advance(60_000);
    api = await backend.login();
    const [kept] = await listed('outcome=failed');
    expect(kept).to.deep.include({ id: ID, dead_letter: false });
    expect(await replay(ID)).to.have.property('status', 409);
    expect([...backend.store.keys('deadLetters', { from: '', to: '~' })]).to.deep.equal([]);
  });
});
