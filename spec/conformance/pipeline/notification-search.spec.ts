import { expect } from 'chai';
import type { DecisionContext } from '../../../src/actors/core/decision-context.ts';
import { changeStreaks } from '../../../src/actors/events/open-streaks.ts';
import { recordDenied, recordNotification } from '../../../src/actors/events/notification-records.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import { outboxKey } from '../../../src/store/encoding/keyspace.ts';
import type { Notification } from '../../../src/store/records/records.ts';
import type { ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { DecisionsOn } from '../../support/decision-on.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend, START_MS } from '../../support/restartable-backend.ts';

const SEARCH = '/api/mon/v1/namespaces/default/notifications';
const HOUR_MS = 3_600_000;
/** More than one slice reads. */
const MANY = 450;

const notification = (n: number, changes: Partial<Notification> = {}): Notification => ({
  id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  handler: 'mail',
  outcome: 'handled',
  reason: `output ${n}`,
  status: 0,
  eventId: `event-${n}`,
  decidedAtMs: START_MS + n,
  atMs: START_MS + n,
  durationMs: 1,
  ...changes,
});

describe('the search for notifications', () => {
  const backend = perSuite(() => RestartableBackend.start());
  let api: ApiClient;

  /** Stores notifications while the backend is down, one decision for each, at these times after the start. */
  async function record(decided: readonly [atMs: number, decide: (ctx: DecisionContext) => void][]): Promise<void> {
    await backend.withStore(async (store) => {
      const decisions = new DecisionsOn(store);
      for (const [atMs, decide] of decided) {
        decisions.nowMs = START_MS + atMs;
        await decisions.decide(decide);
      }
    });
  }

  before(async () => {
    api = await backend.login();
    await api.put('/api/core/v2/namespaces/other', { name: 'other' });
    await backend.halt();
    const put = (key: string, one: Notification) => (ctx: DecisionContext) => recordNotification(ctx, key, one);
    await record([
      [
        0,
        (ctx: DecisionContext) => {
          for (let n = 0; n < MANY; n += 1) recordNotification(ctx, 'default/many/load', notification(n));
        },
      ],
      [1_000, put('default/web-1/disk', notification(1_000, { handler: 'page', pipeline: 'ops', workflow: 'w' }))],
      [1_001, put('default/web-1/disk', notification(1_001, { handler: 'page', outcome: 'failed', status: 2 }))],
      [1_002, put('default/web-1/cpu', notification(1_002, { outcome: 'timed-out', attempts: 3 }))],
      [1_003, put('other/web-1/disk', notification(1_003))],
      ...[HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS].map(
        (atMs) =>
          [
            atMs,
            (ctx: DecisionContext) => {
              changeStreaks(ctx, 'default/web-1/disk', (streaks) => {
                recordDenied(ctx, streaks, { handler: 'mail' }, 'not an incident');
              });
            },
          ] as const,
      ),
    ] as [number, (ctx: DecisionContext) => void][]);
    await backend.resume();
    api = await backend.login();
  });

  const found = async (query: string): Promise<unknown[]> => {
    const { status, json, text } = await api.get(`${SEARCH}?${query}`);
    expect(status, text).to.equal(200);
    return json as unknown[];
  };

  const reasons = async (query: string): Promise<unknown[]> => (await found(query)).map((one) => at(one, 'reason'));

  it('lists the newest first, with all members', async () => {
    const [denied, timedOut, failed, handled] = await found('limit=4');
    const none = { workflow: null, pipeline: null, state: null, next_attempt_at: null, replayed_at: null };
    const start = START_MS / 1_000;
    expect(denied).to.deep.include({
      ...none,
      entity: 'web-1',
      check: 'disk',
      handler: 'mail',
      outcome: 'denied',
      reason: 'not an incident',
      count: 3,
      decided_at: start + 3_600,
      at: start + 3 * 3_600,
    });
    expect(timedOut).to.deep.include({ ...none, check: 'cpu', outcome: 'timed-out', attempts: 3, dead_letter: false });
    expect(failed).to.deep.include({ ...none, check: 'disk', outcome: 'failed', status: 2, event_id: 'event-1001' });
    expect(handled).to.deep.include({ pipeline: 'ops', workflow: 'w', count: 1 });
  });

  const cases: [query: string, reasons: string[]][] = [
    ['entity=web-1&outcome=failed', ['output 1001']],
    ['entity=web-1', ['not an incident', 'output 1002', 'output 1001', 'output 1000']],
    ['entity=web-1&check=disk', ['not an incident', 'output 1001', 'output 1000']],
    ['check=cpu', ['output 1002']],
    ['handler=page', ['output 1001', 'output 1000']],
    ['pipeline=ops', ['output 1000']],
    ['outcome=timed-out', ['output 1002']],
    ['outcome=denied', ['not an incident']],
    ['outcome=skipped', []],
    ['dead_letter=true', []],
    ['entity=web-1&dead_letter=false&limit=1', ['not an incident']],
    ['entity=web-1&since=2023-11-15T00:13:20Z', ['not an incident']],
    ['entity=web-1&since=2023-11-15T02:13:20Z', []],
    [`outcome=handled&since=${START_MS / 1_000 + 1}`, ['output 1000']],
    [`entity=web-1&until=${START_MS / 1_000 + 1}`, ['output 1000']],
    ['entity=nobody', []],
  ];
  for (const [query, expected] of cases) {
    it(`finds what ${query} asks for`, async () => {
      expect(await reasons(query)).to.deep.equal(expected);
    });
  }

  it('returns everything in pages, each once', async () => {
    const seen: unknown[] = [];
    let pages = 0;
    let next: string | undefined = '';
    while (next !== undefined) {
      const { status, headers, json }: ApiAnswer = await api.get(`${SEARCH}?limit=100${next && `&continue=${next}`}`);
      expect(status).to.equal(200);
      expect((json as unknown[]).length).to.be.at.most(100);
      seen.push(...(json as unknown[]).map((one) => at(one, 'reason')));
      next = headers['sensu-continue'] as string | undefined;
      pages += 1;
    }
    const many = Array.from({ length: MANY }, (_, n) => `output ${MANY - 1 - n}`);
    expect(seen).to.deep.equal(['not an incident', 'output 1002', 'output 1001', 'output 1000', ...many]);
    expect(pages).to.equal(5);
  });

  it('returns the pages of one event', async () => {
    const path = `${SEARCH}?entity=many&check=load&limit=300`;
    const first = await api.get(path);
    const second = await api.get(`${path}&continue=${String(first.headers['sensu-continue'])}`);
    expect(first.json).to.have.lengthOf(300);
    expect(second.json).to.have.lengthOf(MANY - 300);
    expect(second.headers).to.not.have.property('sensu-continue');
  });

  const invalid: [query: string, message: string][] = [
    ['entitiy=web-1', 'unknown parameter "entitiy"'],
    ['entity=a&entity=b', 'entity must not be given more than once'],
    ['outcome=lost', 'outcome must be one of handled, failed, timed-out, denied, skipped, waiting'],
    ['dead_letter=maybe', 'dead_letter must be one of true, false'],
    ['since=yesterday', 'since must be Unix seconds or an RFC 3339 time'],
    ['limit=0', 'limit must be at least 1'],
    ['limit=many', 'limit must be a whole number'],
    ['continue=next', 'continue is not a value of Sensu-Continue'],
    [`entity=${'x'.repeat(2_000)}`, 'entity and check must have at most 1500 bytes together'],
  ];
  for (const [query, message] of invalid) {
    it(`answers 400 to ${query.slice(0, 40)}`, async () => {
      const { status, json } = await api.get(`${SEARCH}?${query}`);
      expect(status).to.equal(400);
      expect(at(json, 'message')).to.include(message);
    });
  }

  it('shows one notification by its id, in its namespace only', async () => {
    const { id, eventId } = notification(1_001);
    const { status, json } = await api.get(`${SEARCH}/${id}`);
    expect(status).to.equal(200);
    expect(json).to.deep.include({ id, event_id: eventId, outcome: 'failed' });
    expect(await api.get(`/api/mon/v1/namespaces/other/notifications/${id}`)).to.have.property('status', 404);
    expect(await api.get(`${SEARCH}/unknown`)).to.have.property('status', 404);
  });

  it('lists what waits, newest first, with its state', async () => {
    await api.put('/ns/default/handlers/hangs', {
      metadata: { name: 'hangs', namespace: 'default' },
      type: 'pipe',
      command: 'sleep 5',
    });
    await backend.halt();
    await backend.withStore(async (store) => {
      await new DecisionsOn(store).decide((ctx) => {
        const event = { ...parseEvent(proxyEvent('sw-1', 'port', { status: 1 })), id: 'e' };
        for (const n of [1, 2, 3]) {
          ctx.put('outbox', outboxKey(n), {
            notificationId: `waiting-${n}`,
            namespace: n === 3 ? 'other' : 'default',
            handler: 'hangs',
            key: `${n === 3 ? 'other' : 'default'}/sw-1/port`,
            event,
            decidedAtMs: START_MS + n,
          });
        }
        ctx.put('attempts', outboxKey(1), { attempts: 2, firstAttemptAtMs: START_MS });
        ctx.put('meta', 'outbox-seq', 3);
      });
    });
    await backend.resume();
    api = await backend.login();
    const waiting = await found('outcome=waiting');
    expect(
      waiting.map((one) => [at(one, 'id'), at(one, 'outcome'), at(one, 'state'), at(one, 'attempts')]),
    ).to.deep.equal([
      ['waiting-2', 'waiting', 'waiting', null],
      ['waiting-1', 'waiting', 'retrying', 2],
    ]);
    expect(await found('outcome=waiting&entity=other')).to.deep.equal([]);
    const first = await api.get(`${SEARCH}?outcome=waiting&limit=1`);
    const second = await api.get(
      `${SEARCH}?outcome=waiting&limit=1&continue=${String(first.headers['sensu-continue'])}`,
    );
    expect(at(second.json, 0, 'id')).to.equal('waiting-1');
    expect(at((await api.get(`${SEARCH}/waiting-1`)).json, 'outcome')).to.equal('waiting');
    expect(await api.post(`${SEARCH}/waiting-1/replay`, {})).to.have.property('status', 409);
  });
});
