import { expect } from 'chai';
import { MAX_OPEN_DECISIONS } from '../../../src/store/commit/committer.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { MetricChanges, scrape } from '../../support/scrape.ts';

const ENTITIES = 4_000;
/** Many times the usual duration: a cost per entity would exceed it. */
const MOST_CPU_MS = 100;
const WITHIN = { withinMs: 45_000, everyMs: 200 };

const EVENTS = ['sensu_go_events_processed', { status: 'success', type: 'check' }] as const;
const REFUSED_CHANGES = ['mon_changes_refused_total'] as const;
const PAUSED = ['mon_paused_sessions'] as const;
const HELD = ['mon_held_messages'] as const;
const OPEN_DECISIONS = ['mon_queue_depth', { queue: 'open_decisions' }] as const;
const MOST_HELD = ['mon_queue_depth', { queue: 'agent_held_messages' }] as const;

describe('the metrics of a backend under load', function () {
  this.timeout(60_000);
  const backend = perTest(() => InProcessBackend.start());

  it(`have no more series with ${ENTITIES} entities and take no longer`, async () => {
    const agent = await backend.connect({ name: 'm-1' });
    agent.send('event', checkEvent('m-1', 'c', { proxy_entity_name: 'p', ttl: 600 }));
    await eventually(
      () => scrape(backend),
      (metrics) => metrics.value(...EVENTS) === 1,
      WITHIN,
    );
    const few = await scrape(backend);
    for (let n = 1; n < ENTITIES; n += 1)
      agent.send('event', checkEvent('m-1', 'c', { proxy_entity_name: `p${n}`, ttl: 600 }));
    const many = await eventually(
      () => scrape(backend),
      (metrics) => metrics.value(...EVENTS) === ENTITIES,
      { what: 'all events', ...WITHIN },
    );
    expect(many.series).to.equal(few.series);
    expect(many.value('mon_armed_deadlines', { actor: 'check-ttl' })).to.equal(ENTITIES);
    const took: number[] = [];
    for (let times = 0; times < 5; times += 1) {
      const before = process.cpuUsage();
      await scrape(backend);
      const { user, system } = process.cpuUsage(before);
      took.push((user + system) / 1_000);
    }
    expect(Math.min(...took)).to.be.below(MOST_CPU_MS);
  });

  it('show that the open decisions are full, and how many messages are held and refused for it', async () => {
    const api = await backend.login();
    const sender = await backend.connect({ name: 'm-1' });
    const moved = await MetricChanges.begin(backend);
    const held = backend.store.hold();
    sender.send('event', checkEvent('m-1', 'c'));
    await held;
    const event = JSON.stringify(checkEvent('m-1', 'c'));
    for (let n = 0; n < MAX_OPEN_DECISIONS + 200; n += 1) sender.sendRaw(`event\n${event}`);
    await eventually(
      () => moved.of(PAUSED),
      ([paused]) => paused === 1,
      { what: 'a paused session', ...WITHIN },
    );
    const [open, heldMessages, mostHeld] = await moved.of(OPEN_DECISIONS, HELD, MOST_HELD);
    expect(open).to.equal(MAX_OPEN_DECISIONS);
    expect(heldMessages).to.be.at.least(1);
    expect(mostHeld).to.equal(heldMessages);
    const refused = await api.put('/ns/default/events/sw/c', proxyEvent('sw', 'c'));
    expect(refused.status).to.equal(503);
    expect(await moved.of(REFUSED_CHANGES)).to.deep.equal([1]);
    const login = backend.login();
    await eventually(
      () => moved.of(OPEN_DECISIONS),
      ([decisions]) => decisions === MAX_OPEN_DECISIONS + 1,
      { what: 'a login that is decided all the same', ...WITHIN },
    );
    backend.store.release();
    await login;
    const all = MAX_OPEN_DECISIONS + 201;
    await eventually(
      () => moved.of(EVENTS),
      ([events]) => events === all,
      { what: 'all events', ...WITHIN },
    );
    expect(await moved.of(OPEN_DECISIONS, HELD, PAUSED, REFUSED_CHANGES)).to.deep.equal([0, 0, 0, 1]);
  });
});
