import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { ApiClient } from '../../support/api-client.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { eventually } from '../../support/eventually.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend, START_MS } from '../../support/restartable-backend.ts';
import { SubscribedAgent } from '../../support/subscribed-agent.ts';

const EVENT = '/api/mon/v1/namespaces/default/events/web-01/disk';
const EVENT_ID = '6a1b2c3d-0000-4000-8000-000000000001';
const RESULT = { ttl: 60, interval: 10, handlers: ['mail'] };

describe('an explanation of an incident', () => {
  const backend = perSuite(() => RestartableBackend.start());
  let api: ApiClient;

  /** Explains the moment that many seconds after the start. */
  const explained = async (atS?: number): Promise<unknown> => {
    const query = atS === undefined ? '' : `?at=${START_MS / 1_000 + atS}`;
    const { status, json, text } = await api.get(`${EVENT}/explain${query}`);
    expect(status, text).to.equal(200);
    return json;
  };
  const sentences = async (atS?: number): Promise<string[]> => at(await explained(atS), 'sentences') as string[];

  /** Waits until the handler has this number of runs on record. */
  const ran = (count: number) =>
    eventually(
      () => api.get(`${EVENT}/notifications`),
      ({ json }) => (json as { outcome: string }[]).filter(({ outcome }) => outcome === 'failed').length === count,
      { what: `${count} failed runs` },
    );

  before(async () => {
    api = await backend.login();
    const metadata = { name: 'mail', namespace: 'default' };
    const command = 'cat > /dev/null; echo no route to the mail server >&2; exit 3';
    const filters = ['is_incident', 'not_silenced'];
    await api.put('/ns/default/handlers/mail', { metadata, type: 'pipe', command, filters });
    const silence = { metadata: { name: 'entity:web-01:*', namespace: 'default' }, subscription: 'entity:web-01' };
    const agent = await ReportingAgent.connect(backend, 'web-01');
    await agent.keepalive({ timeout: 600 });
    await agent.result('disk', RESULT);
    await backend.clock.advance(10_000);
    await agent.result('disk', { ...RESULT, status: 2, output: '/var is full' }, { id: EVENT_ID });
    await ran(1);
    await backend.clock.advance(10_000);
    await agent.result('disk', { ...RESULT, status: 2, output: '/var is full' });
    await ran(2);
    await backend.clock.advance(10_000);
    await api.put('/ns/default/silenced/entity:web-01:*', { ...silence, reason: 'maintenance', expire: -1 });
    await backend.clock.advance(10_000);
    await agent.result('disk', { ...RESULT, status: 2, output: '/var is full' });
    await backend.clock.advance(70_000);
    await backend.downFor(30_000);
    api = await backend.login();
    await backend.clock.advance(10_000);
    const again = await ReportingAgent.connect(backend, 'web-01');
    await again.result('disk', RESULT);
    await api.delete('/ns/default/silenced/entity:web-01:*');
    await backend.clock.advance(10_000);
    await again.result('disk', RESULT);
  });

  it('is the one that docs/explain.md shows', async () => {
    const page = readFileSync(new URL('../../../docs/explain.md', import.meta.url), 'utf8');
    const shown = [...page.matchAll(/```text\n([\s\S]*?)\n```/g)].map(([, block = '']) => block.split('\n'));
    expect(shown).to.deep.equal([await sentences(45), await sentences(125)]);
  });

  it('says before the first result that there was no event', async () => {
    const explanation = await explained(-10);
    expect(at(explanation, 'state')).to.include({ kind: 'absent', state: null, record_begins_at: START_MS / 1_000 });
    expect(at(explanation, 'sentences')).to.deep.equal([
      'At 2023-11-14T22:13:10Z there was no event of the check `disk` of `web-01`; the record begins at 2023-11-14T22:13:20Z.',
    ]);
  });

  it('has the state, its beginning and the number of results', async () => {
    expect(at(await explained(5), 'state')).to.include({ state: 'passing', status: 0, problem_since: null });
    expect(at(await explained(25), 'state')).to.deep.equal({
      kind: 'recorded',
      state: 'failing',
      status: 2,
      since: START_MS / 1_000 + 10,
      problem_since: START_MS / 1_000 + 10,
      occurrences_min: 1,
      occurrences_max: 2,
      complete: true,
      next_at: START_MS / 1_000 + 40,
      record_begins_at: null,
    });
    expect(at(await explained(), 'state')).to.include({ status: 0, since: START_MS / 1_000 + 150, occurrences_min: 2 });
  });

  it('has the failed run of a handler with its output', async () => {
    expect(await sentences(25)).to.include(
      'Handler `mail` failed at 2023-11-14T22:13:40Z: exit status 3, no route to the mail server.',
    );
    const { items } = at(await explained(25), 'handlers') as { items: unknown[] };
    expect(items.map((item) => at(item, 'notification', 'outcome'))).to.deep.equal(['failed', 'failed']);
  });

  it('has the silence with its creator and reason, also after it was deleted', async () => {
    const { items } = at(await explained(155), 'silences') as { items: unknown[] };
    expect(items).to.deep.equal([
      {
        name: 'entity:web-01:*',
        creator: 'admin',
        reason: 'maintenance',
        begin: START_MS / 1_000 + 30,
        expire_at: 0,
        ended: { at: START_MS / 1_000 + 150, event: 'silence.deleted', cause: { user: 'admin' } },
      },
    ]);
  });

  it('has the deadline that made an alert', async () => {
    const { items } = at(await explained(105), 'changes') as { items: unknown[] };
    expect(items[0]).to.deep.include({
      cause: { deadlineAtMs: START_MS + 100_000 },
      overdue: { since: START_MS / 1_000 + 40, limit: 60, blind: null },
    });
    expect(at(await explained(), 'due')).to.deep.equal({ what: 'result', since: START_MS / 1_000 + 160, limit: 60 });
  });

  it('has the connection of the agent and the blind time of the backend', async () => {
    const watching = at(await explained(125), 'watching');
    const [connection] = at(watching, 'connections', 'items') as unknown[];
    expect(connection).to.include({ opened_at: START_MS / 1_000, closed_at: START_MS / 1_000 + 110 });
    expect(at(watching, 'blind', 'items')).to.deep.equal([
      { begin: START_MS / 1_000 + 110, end: START_MS / 1_000 + 140, event: 'process.started' },
    ]);
  });

  it('of an alert about missing keepalives has their time limit', async () => {
    await backend.clock.advance(800_000);
    const path = '/api/mon/v1/namespaces/default/events/web-01/keepalive/explain';
    expect(at((await api.get(path)).json, 'sentences')).to.include(
      'Nothing was received within 600 s of 2023-11-14T22:13:20Z, so that the backend alerted.',
    );
  });

  it('of a missing keepalive says when it was due, and nothing of a schedule', async () => {
    const path = '/api/mon/v1/namespaces/default/events/web-01/keepalive/explain';
    const { json } = await api.get(path);
    const all = (at(json, 'sentences') as string[]).join('\n');
    expect(all).to.include('The next keepalive was due within 600 s of the last one at 2023-11-14T22:13:20Z.');
    expect(all).to.not.include('is due').and.not.include('No tick');
    const early = await api.get(`${path}?at=${START_MS / 1_000 + 5}`);
    expect((at(early.json, 'sentences') as string[]).join('\n')).to.not.include('was due');
  });

  it('of an event of a proxy says nothing of an agent or a schedule, and ends its output without line breaks', async () => {
    await api.put('/ns/default/events/router/flag', proxyEvent('router', 'flag', { status: 2, output: 'flag is 2\n' }));
    const { json } = await api.get('/api/mon/v1/namespaces/default/events/router/flag/explain');
    const all = at(json, 'sentences') as string[];
    expect(all).to.include('Its output began with: flag is 2');
    expect(all.join('\n')).to.not.include('No tick').and.not.include('No connection');
  });

  it('says when and by whom the event was deleted', async () => {
    await api.delete('/ns/default/events/web-01/disk');
    const explanation = await explained();
    expect(at(explanation, 'state')).to.include({ kind: 'deleted', state: null });
    expect(at(explanation, 'sentences', 0)).to.match(/^There is no event of .* caused by the user `admin`\.$/);
    expect(at(await explained(45), 'state')).to.include({ kind: 'recorded', status: 2 });
  });

  it('is answered with 404 when nothing is on record, and with 400 for an invalid moment', async () => {
    const never = await api.get('/api/mon/v1/namespaces/default/events/web-01/never/explain');
    expect(never).to.have.property('status', 404);
    const { status, text } = await api.get(`${EVENT}/explain?at=yesterday`);
    expect([status, text]).to.deep.equal([400, '{"message":"at must be Unix seconds or an RFC 3339 time","code":1}']);
  });
});

describe('an explanation of a check with a schedule', () => {
  const backend = perSuite(() => RestartableBackend.start());

  it('counts the ticks that ran, and those that did not, with the reason', async () => {
    const api = await backend.login();
    const agent = await SubscribedAgent.register(backend, 'runner', 'sys');
    const metadata = { name: 'check-disk', namespace: 'default' };
    const check = { metadata, command: 'x', interval: 10, subscriptions: ['sys'], publish: true };
    await api.put('/ns/default/checks/check-disk', check);
    for (let tick = 0; tick < 3; tick += 1) {
      await backend.clock.advance(10_000);
      await agent.answer();
    }
    await agent.leave();
    await backend.clock.advance(20_000);
    const { json } = await api.get('/api/mon/v1/namespaces/default/events/runner/check-disk/explain');
    expect(at(json, 'watching', 'ticks', 'items')).to.deep.equal([
      { outcome: 'ran', reason: null, from: START_MS / 1_000 + 16.679, to: START_MS / 1_000 + 26.679, count: 2 },
      {
        outcome: 'lost',
        reason: 'the agent was not connected',
        from: START_MS / 1_000 + 36.679,
        to: START_MS / 1_000 + 46.679,
        count: 2,
      },
    ]);
    expect(at(json, 'sentences')).to.include.members([
      'From 2023-11-14T22:13:30Z to 2023-11-14T22:14:10Z the check ran at 2 ticks of its schedule, 0 were skipped and 2 were lost.',
      '2 ticks from 2023-11-14T22:13:56.679Z to 2023-11-14T22:14:06.679Z were lost: the agent was not connected.',
    ]);
  });

  it('says after a start of the backend which ticks have no record yet', async () => {
    await backend.downFor(60_000);
    const api = await backend.login();
    const ofTicks = async (): Promise<string> => {
      const { json } = await api.get('/api/mon/v1/namespaces/default/events/runner/check-disk/explain');
      return (at(json, 'sentences') as string[]).filter((sentence) => /ticks/i.test(sentence)).join('\n');
    };
    const pending =
      'Ticks from 2023-11-14T22:14:16.679Z on have no record yet: it is made at the next tick of the schedule.';
    const before = await ofTicks();
    expect(before).to.include('2 were lost.').and.include(pending);
    await backend.clock.advance(20_000);
    expect(await ofTicks())
      .to.match(/ (?:[89]|10) were lost\./)
      .and.not.include('no record yet');
  });
});
