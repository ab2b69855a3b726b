import { expect } from 'chai';
import type { AgentClient } from '../../support/agent-client.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend, START_MS } from '../../support/restartable-backend.ts';
import { failingMachines, Sabotage } from '../inspection/failing-machines.ts';

const START_S = START_MS / 1_000;
/** `check-disk` with an interval of 10 s is first due this long after the start. */
const FIRST_TICK_MS = 6_679;
const FIRST_TICK_S = START_S + 6;
const SCHEDULE = '/api/mon/v1/namespaces/default/checks/check-disk/schedule';
const EXECUTE = '/ns/default/checks/check-disk/execute';

describe('the runs of a check', () => {
  const backend = perTest(() => RestartableBackend.start());
  let api: ApiClient;

  beforeEach(async () => {
    api = await backend.login();
  });

  async function put(changes: Record<string, unknown> = {}): Promise<void> {
    const metadata = { name: 'check-disk', namespace: 'default' };
    const check = { metadata, command: 'x', interval: 10, subscriptions: ['sys'], publish: true, ...changes };
    expect(await api.put('/ns/default/checks/check-disk', check)).to.have.property('status', 201);
    await backend.clock.settle();
  }

  async function registered(name: string): Promise<AgentClient> {
    const reporting = await ReportingAgent.connect(backend, name, { subscriptions: ['sys'] });
    await reporting.keepalive({ entity: { subscriptions: ['sys', `entity:${name}`] } });
    await reporting.socket.ping('registered');
    while (reporting.socket.waitingFrames.length > 0) await reporting.socket.next('entity_config');
    return reporting.socket;
  }

  /** The issue times of the requests since the last call. */
  async function issuedTo(agent: AgentClient): Promise<unknown[]> {
    await agent.ping(`after ${backend.clock.monotonicMs()}`);
    const issued: unknown[] = [];
    while (agent.waitingFrames.length > 0) issued.push(at(await agent.next('check_request'), 'issued'));
    return issued;
  }

  const schedule = async (): Promise<unknown> => (await api.get(SCHEDULE)).json;

  describe('by its schedule', () => {
    it('show the next tick before the first one', async () => {
      await put();
      expect(await schedule()).to.deep.include({ next_at: FIRST_TICK_S, last_at: null, last_skip: null });
    });

    it('show the last tick at which an agent received the check', async () => {
      await put();
      await registered('a1');
      await backend.clock.advance(FIRST_TICK_MS);
      expect(await schedule()).to.deep.equal({
        interval: 10,
        next_at: FIRST_TICK_S + 10,
        upcoming: [1, 2, 3, 4, 5].map((tick) => FIRST_TICK_S + tick * 10),
        last_at: FIRST_TICK_S,
        last_skip: null,
      });
    });

    it('are skipped, with a reason, while no agent listens or the check is not published', async () => {
      await put();
      await backend.clock.advance(FIRST_TICK_MS);
      const unheard = { at: FIRST_TICK_S, reason: 'no agents' };
      expect(await schedule()).to.deep.include({ last_at: null, last_skip: unheard });
      await registered('a1');
      await backend.clock.advance(10_000);
      expect(await schedule()).to.deep.include({ last_at: FIRST_TICK_S + 10, last_skip: unheard });
      await put({ publish: false });
      await backend.clock.advance(10_000);
      const unpublished = { at: FIRST_TICK_S + 20, reason: 'not published' };
      expect(await schedule()).to.deep.include({ last_at: FIRST_TICK_S + 10, last_skip: unpublished });
    });

    it('restart with another interval', async () => {
      await put();
      await put({ interval: 3_600 });
      expect(await schedule()).to.have.property('interval', 3_600);
      expect(at(await schedule(), 'next_at')).to.be.within(START_S, START_S + 3_600);
    });

    it('show the next five times of a cron expression', async () => {
      await put({ interval: 0, cron: 'CRON_TZ=UTC 0 9 * * 1-5' });
      const { upcoming } = (await schedule()) as { upcoming: number[] };
      const times = upcoming.map((atS) => new Date(atS * 1_000));
      expect(times.map((time) => time.toISOString().slice(11, 19))).to.deep.equal(Array<string>(5).fill('09:00:00'));
      expect(times.map((time) => time.getUTCDay())).to.have.members([1, 2, 3, 4, 5]);
    });

    it('have no next tick while the schedule is in quarantine', async () => {
      await backend.halt();
      const sabotage = new Sabotage();
      await backend.resume(failingMachines(sabotage));
      api = await backend.login();
      await put();
      sabotage.arm('default/check-disk', 'action', 5);
      await backend.clock.advance(60_000);
      expect(await schedule()).to.deep.equal({
        interval: 10,
        next_at: null,
        upcoming: [],
        last_at: null,
        last_skip: null,
      });
    });

    it('answer 404 without the check, and 401 without credentials', async () => {
      const { status, json } = await api.get(SCHEDULE);
      expect([status, json]).to.deep.equal([404, { message: 'check default/check-disk not found', code: 2 }]);
      const headers = { authorization: 'Basic x' };
      expect((await api.request({ method: 'GET', path: SCHEDULE, headers })).status).to.equal(401);
    });
  });

  describe('that a user requests', () => {
    const bodies: [string, string | object][] = [
      ['{}', {}],
      ['null', 'null'],
      ['that is empty', ''],
      ['members that are ignored', { check: 'other', metadata: {}, subscriptions: null }],
    ];
    for (const [what, body] of bodies) {
      it(`are sent at once, published or not, with the body ${what}`, async () => {
        await put({ publish: false });
        const agent = await registered('a1');
        const { status, json } = await api.post(EXECUTE, body);
        expect([status, json]).to.deep.equal([202, { issued: backend.nowS }]);
        expect(await issuedTo(agent)).to.deep.equal([backend.nowS]);
        expect(await schedule()).to.deep.include({ next_at: FIRST_TICK_S, last_at: null, last_skip: null });
      });
    }

    it('use the subscriptions in the request instead of those of the check', async () => {
      await put();
      const [one, two] = [await registered('a1'), await registered('a2')];
      await api.post(EXECUTE, { subscriptions: ['entity:a2', 'entity:a2', ''] });
      expect([await issuedTo(one), await issuedTo(two)]).to.deep.equal([[], [backend.nowS]]);
      expect((await api.get('/ns/default/checks/check-disk')).json).to.have.deep.property('subscriptions', ['sys']);
    });

    it('do not change the schedule', async () => {
      await put();
      const agent = await registered('a1');
      await backend.clock.advance(3_000);
      await api.post(EXECUTE, {});
      await backend.clock.advance(FIRST_TICK_MS - 3_000);
      expect(await issuedTo(agent)).to.deep.equal([START_S + 3, FIRST_TICK_S]);
    });

    it('are accepted when no agent listens', async () => {
      await put();
      expect((await api.post(EXECUTE, {})).status).to.equal(202);
      expect(await schedule()).to.deep.include({ last_skip: null });
    });

    it('are recorded in ledger and log with user and reason, both cut to a limit', async () => {
      await put();
      await api.post(EXECUTE, { creator: 'ann', reason: 'r'.repeat(2_000), subscriptions: ['entity:a1'] });
      const remarks = { creator: 'ann', reason: 'r'.repeat(500), subscriptions: ['entity:a1'] };
      const entries = await api.ledger({ actor: 'checks', key: 'default/check-disk' });
      expect(entries.map(({ event, cause, details }) => [event, cause, details])).to.deep.include([
        'check.requested',
        { user: 'admin' },
        remarks,
      ]);
      const line = backend.log.lines.find(({ msg }) => msg === 'check execution requested');
      expect(line?.fields).to.deep.include({ namespace: 'default', check: 'check-disk', user: 'admin', ...remarks });
    });

    const refused: [string, unknown, number][] = [
      ['/ns/default/checks/none/execute', {}, 404],
      ['/ns/default/checks/a%20b/execute', {}, 404],
      ['/ns/ghost/checks/check-disk/execute', {}, 404],
      ['/ns/default/checks/a%2Fb/execute', {}, 404],
      [EXECUTE, '{"x', 400],
      [EXECUTE, '[]', 400],
      [EXECUTE, { subscriptions: 'x' }, 400],
    ];
    for (const [path, body, expected] of refused) {
      it(`answer ${expected} to ${JSON.stringify(body)} at ${path}`, async () => {
        await put();
        expect((await api.post(path, body)).status).to.equal(expected);
        expect(await api.ledger({ actor: 'checks', key: 'default/check-disk' })).to.have.lengthOf(1);
      });
    }
  });
});
