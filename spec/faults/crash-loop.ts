import { expect } from 'chai';
import type { ApiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { checkEvent, keepalive } from '../support/example-events.ts';
import { at } from '../support/json-path.ts';
import { RestartableBackend } from '../support/restartable-backend.ts';

const NAME = 'web-01';
const TTL_S = 10;
const TTL_MS = TTL_S * 1_000;
const DOWN_PAST_DEADLINE_MS = 30_000;
const RESTARTS = 6;

/** Declares the tests of F4 on a manual clock, with `count` check TTLs. */
export function describeCrashLoop(count: number): void {
  describe(`F4: a backend that was down until 30 s past the deadline of ${count} check TTLs`, function () {
    this.timeout(180_000);
    casesOf(count);
  });
}

function casesOf(count: number): void {
  let backend: RestartableBackend;
  let api: ApiClient;

  beforeEach(async () => {
    backend = await RestartableBackend.start();
    api = await backend.login();
    const agent = await backend.connect({ name: NAME });
    agent.send('keepalive', keepalive(NAME, { timestamp: backend.nowS, timeout: 3_600 }));
    for (let n = 0; n < count; n += 1) {
      agent.send('event', checkEvent(NAME, `check-${n}`, { ttl: TTL_S, interval: 1 }));
    }
    await agent.ping('all events read', 60_000);
    await eventually(
      async () => (await expired()).length,
      (stored) => stored === count,
      { what: 'the check TTLs', withinMs: 60_000 },
    );
  });

  afterEach(() => backend.stop());

  /** Returns how often each check TTL has expired. */
  async function expired(): Promise<number[]> {
    const { json } = await api.get(`/ns/default/events/${NAME}`);
    return (Array.isArray(json) ? json : [])
      .filter((event) => at(event, 'check', 'metadata', 'name') !== 'keepalive')
      .map((event) => (at(event, 'check', 'status') === 0 ? 0 : Number(at(event, 'check', 'occurrences'))));
  }

  const all = (times: number): number[] => Array.from({ length: count }, () => times);

  async function downFor(ms: number): Promise<void> {
    await backend.downFor(ms);
    await backend.clock.advance(0);
    api = await backend.login();
  }

  async function transitions(): Promise<{ atMs: number; blindMs: unknown }[]> {
    const entries = await api.ledger({ actor: 'check-ttl' });
    return entries
      .filter(({ event }) => event === 'deadline.reached')
      .map(({ atMs, details }) => ({ atMs, blindMs: at(details, 'blindMs') }));
  }

  it('raises no alert at its start, and one for each when the TTL has passed since then, with the blind time', async () => {
    await downFor(TTL_MS + DOWN_PAST_DEADLINE_MS);
    const bootMs = backend.clock.nowMs();
    await backend.clock.advance(TTL_MS - 1);
    expect(await expired()).to.deep.equal(all(0));
    await backend.clock.advance(1);
    expect(await expired()).to.deep.equal(all(1));
    const fired = await transitions();
    expect(fired).to.have.lengthOf(count);
    for (const { atMs, blindMs } of fired) {
      expect(atMs).to.equal(bootMs + TTL_MS);
      expect(blindMs).to.be.within(TTL_MS + DOWN_PAST_DEADLINE_MS, TTL_MS + DOWN_PAST_DEADLINE_MS + 5_000);
    }
    await backend.clock.advance(TTL_MS - 1);
    expect(await expired()).to.deep.equal(all(1));
  });

  it('raises each alert one TTL after its first start, even when it restarts after every half TTL', async () => {
    await downFor(TTL_MS + DOWN_PAST_DEADLINE_MS);
    const bootMs = backend.clock.nowMs();
    for (let restart = 1; restart <= RESTARTS; restart += 1) {
      await backend.clock.advance(TTL_MS / 2);
      await downFor(0);
      const times = Math.floor((backend.clock.nowMs() - bootMs) / TTL_MS);
      expect(await expired(), `after ${restart} restarts`).to.deep.equal(all(times));
    }
    const fired = await transitions();
    expect(fired).to.have.lengthOf(count);
    for (const { atMs } of fired) expect(atMs).to.equal(bootMs + TTL_MS);
  });
}
