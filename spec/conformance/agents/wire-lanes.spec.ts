import { expect } from 'chai';
import { MAX_OPEN_DECISIONS } from '../../../src/store/commit/committer.ts';
import type { AgentClient } from '../../support/agent-client.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const WITHIN = { withinMs: 30_000, everyMs: 50 };

describe('the agent port while too much waits for the store', function () {
  this.timeout(60_000);
  const backend = perTest(() => InProcessBackend.start());
  let api: ApiClient;
  let other: AgentClient;

  beforeEach(async () => {
    api = await backend.login();
    other = await backend.connect({ name: 'lane-other' });
    other.send('keepalive', keepalive('lane-other', { interval: 2, timeout: 20 }));
    other.send('event', checkEvent('lane-other', 'watched', { ttl: 10, interval: 5 }));
    await eventually(() => api.event('lane-other', 'watched'), Boolean, { what: 'the watched check', ...WITHIN });
  });

  /** Waits until a sender is no longer read. */
  async function fill(): Promise<void> {
    const sender = await backend.connect({ name: 'lane-sender' });
    const event = JSON.stringify(checkEvent('lane-sender', 'c'));
    const held = backend.store.hold();
    sender.sendRaw(`event\n${event}`);
    await held;
    for (let n = 0; n < MAX_OPEN_DECISIONS + 200; n += 1) sender.sendRaw(`event\n${event}`);
    await eventually(isFull, Boolean, { what: 'a refusal for want of room', ...WITHIN });
  }

  /** A write waits for the store unless it is refused at once. */
  async function isFull(): Promise<boolean> {
    const answer = api.put('/ns/default/events/lane-other/probe', checkEvent('lane-other', 'probe'));
    const waiting = new Promise<undefined>((resolve) => {
      setTimeout(() => {
        resolve(undefined);
      }, 500);
    });
    return (await Promise.race([answer, waiting]))?.status === 503;
  }

  it('lets keepalives pass waiting events', async () => {
    const late = await backend.connected({ name: 'lane-late' });
    await fill();
    late.send('event', checkEvent('lane-late', 'first-sent', { status: 1 }));
    late.send('keepalive', keepalive('lane-late'));
    await late.ping('both were read');
    backend.store.release();
    await eventually(() => api.event('lane-late', 'first-sent'), Boolean, { what: 'the event that waited', ...WITHIN });
    const [entity] = await api.ledger({ actor: 'entity', key: 'default/lane-late' });
    const [check] = await api.ledger({ actor: 'check-state', key: 'default/lane-late/first-sent' });
    expect(entity?.seq).to.be.below(check?.seq ?? 0);
  });

  it("holds a limited amount of an agent's messages, then stops reading, and loses nothing", async () => {
    await fill();
    for (let n = 1; n <= 300; n += 1) other.send('event', checkEvent('lane-other', 'many', { status: n % 2 }));
    await eventually(
      async () => {
        await backend.clock.advance(10_000);
        return other.pongs.length > 0;
      },
      Boolean,
      { what: 'the pause of the agent', ...WITHIN },
    );
    backend.store.release();
    const stored = await eventually(
      () => api.event('lane-other', 'many'),
      (event) => (at(event, 'check', 'history') as unknown[] | undefined)?.length === 21,
      { what: 'the last of the events', ...WITHIN },
    );
    expect(at(stored, 'check', 'total_state_change')).to.equal(98);
    const transitions = await api.ledger({ actor: 'check-state', key: 'default/lane-other/many' });
    expect(transitions.length).to.be.above(21);
  });

  it('raises no alert for unread keepalives, and reports how long it did not read', async () => {
    await fill();
    await backend.clock.advance(60_000);
    backend.store.release();
    const blind = await eventually(
      () => api.ledger({ actor: 'backend' }),
      (entries) => entries.at(-1)?.event === 'readers.resumed',
      {
        what: 'the end of blind time',
        ...WITHIN,
      },
    );
    expect(blind.at(-1)?.cause).to.deep.equal({ backend: 'queues.drained' });
    api = await backend.login();
    const statusOf = async (check: string) => at(await api.event('lane-other', check), 'check', 'status');
    expect([await statusOf('watched'), await statusOf('keepalive')]).to.deep.equal([0, 0]);
    await backend.clock.advance(10_000);
    expect(await statusOf('watched')).to.equal(1);
    expect(at(await api.event('lane-other', 'watched'), 'metadata', 'annotations', 'mon.io/blind-seconds')).to.equal(
      '60',
    );
  });
});
