import { expect } from 'chai';
import { perTest } from '../../support/fixture.ts';
import { readLedger } from '../../support/read-ledger.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const EVERY_MS = 120_000;
const AN_HOUR = 3_600_000 / EVERY_MS;
/** Entries of one connection: its session, its opening and its end. */
const ENTRIES = 3;

describe('the connections of an agent that reconnects all the time', function () {
  this.timeout(60_000);
  const backend = perTest(() => RestartableBackend.start());

  async function reconnect(times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      const agent = await backend.connect({ name: 'restless' });
      await agent.ping();
      await agent.disconnect();
      // Only the time between the connections counts, not what happens in it.
      await backend.clock.stall(EVERY_MS);
    }
  }

  const entries = (actor: string) => readLedger(backend.store, { actor });
  const recorded = (): number => entries('connection').length + entries('agent-session').length;
  const counts = () => entries('agent').filter(({ event }) => event === 'connections.counted');

  it('are ten in the ledger, then one counted entry an hour', async () => {
    await reconnect(AN_HOUR + 2);
    expect(recorded()).to.equal(10 * ENTRIES);
    expect(counts().map(({ key, details }) => ({ key, ...details }))).to.have.lengthOf(1);
    expect(counts()[0]?.details).to.include({ connections: AN_HOUR - 10 });
    await reconnect(AN_HOUR);
    expect(recorded()).to.equal(10 * ENTRIES);
    expect(counts()).to.have.lengthOf(2);
    expect(counts()[1]?.details).to.include({ seconds: 3_600 });
  });

  it('are recorded one by one again when it has calmed down', async () => {
    await reconnect(AN_HOUR + 2);
    await backend.clock.advance(2 * 3_600_000);
    const before = recorded();
    await reconnect(2);
    expect(recorded()).to.equal(before + 2 * ENTRIES);
  });
});
