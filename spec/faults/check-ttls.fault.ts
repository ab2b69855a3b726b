import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { checkEvent, keepalive } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { at } from '../support/json-path.ts';
import { RestartableProcess } from '../support/restartable-process.ts';

const NAME = 'web-01';
const CHECK_TTLS = 10_000;
const TTL_S = 20;
const DOWN_PAST_DEADLINE_MS = 30_000;
const LATE_MS = 5_000;

describe(`F4: a backend that is killed and stays down until 30 s past the deadline of ${CHECK_TTLS} check TTLs`, function () {
  const program = perTest(() => RestartableProcess.start());

  async function results(): Promise<unknown[]> {
    const { json } = await program.api.get(`/ns/default/events/${NAME}`);
    const events = Array.isArray(json) ? (json as unknown[]) : [];
    return events.filter((event) => at(event, 'check', 'metadata', 'name') !== 'keepalive');
  }

  const fired = async () =>
    (await program.api.ledger({ actor: 'check-ttl' })).filter(({ event }) => event === 'deadline.reached');

  it('raises no alert at its start, and one for each within 5 s after the TTL has passed since then, with the blind time', async () => {
    const agent = await program.backend.connect({ name: NAME });
    agent.send('keepalive', keepalive(NAME, { timeout: 3_600 }));
    for (let n = 0; n < CHECK_TTLS; n += 1) {
      agent.send('event', checkEvent(NAME, `check-${n}`, { ttl: TTL_S, interval: 1 }));
    }
    const every = { what: 'the check TTLs', withinMs: TTL_S * 1_000, everyMs: 200 };
    await eventually(results, ({ length }) => length === CHECK_TTLS, every);
    await program.kill();
    await delay(TTL_S * 1_000 + DOWN_PAST_DEADLINE_MS);

    const beginMs = Date.now();
    await program.resume();
    const readyMs = Date.now();
    expect(await fired()).to.deep.equal([]);
    await delay(TTL_S * 1_000 - (Date.now() - beginMs) - 1_000);
    expect(await fired()).to.deep.equal([]);
    await delay(readyMs + TTL_S * 1_000 + LATE_MS - Date.now());
    const entries = await fired();
    for (const { atMs, details } of entries) {
      expect(atMs).to.be.within(beginMs + TTL_S * 1_000, readyMs + TTL_S * 1_000 + LATE_MS);
      expect(at(details, 'blindMs')).to.be.above(TTL_S * 1_000 + DOWN_PAST_DEADLINE_MS - 1_000);
    }
    expect(new Set(entries.map(({ key }) => key)).size).to.equal(CHECK_TTLS);
    expect(entries).to.have.lengthOf(CHECK_TTLS);
    const occurrences = (await results()).map((event) => at(event, 'check', 'occurrences'));
    expect(new Set(occurrences)).to.deep.equal(new Set([1]));
  });
});
