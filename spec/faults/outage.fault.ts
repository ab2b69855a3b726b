import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import type { AgentProcess } from '../agent/agent-process.ts';
import { eventually } from '../support/eventually.ts';
import { perSuite } from '../support/fixture.ts';
import { freePort } from '../support/free-port.ts';
import { RestartableProcess } from '../support/restartable-process.ts';
import { startRealAgent } from './real-agents.ts';

const KEEPALIVES = { intervalS: 2, warningS: 6, criticalS: 9 };
const DOWN_MS = 19_000;
/** Tolerance for a busy machine. */
const LATE_MS = 1_000;
const SURVIVORS = ['survivor-1', 'survivor-2', 'survivor-3'];
const KILLED = ['killed-1', 'killed-2', 'killed-3'];

describe('a backend outage of 19 s with real agents', () => {
  const agents = new Map<string, AgentProcess>();
  let portFlag: string;
  const program = perSuite(async () => {
    portFlag = `--agent-port=${await freePort()}`;
    return RestartableProcess.start([portFlag]);
  });
  let restartedMs = 0;
  let recoveredMs = 0;

  before(async () => {
    for (const name of [...SURVIVORS, ...KILLED])
      agents.set(name, startRealAgent(name, program.backend.agentPort, KEEPALIVES));
    const names = async () => (await transitions()).map(({ key }) => key);
    await eventually(names, ({ length }) => length === agents.size, {
      what: 'the registration of all agents',
      withinMs: 60_000,
      everyMs: 100,
    });
    await program.kill();
    for (const name of KILLED) await agents.get(name)?.kill();
    await delay(DOWN_MS);
    restartedMs = Date.now();
    await program.resume([portFlag]);
    recoveredMs = Date.now();
  });

  after(async () => {
    for (const agent of agents.values()) await agent.kill();
  });

  const transitions = async (): Promise<LedgerEntry[]> =>
    (await program.api.ledger({ actor: 'entity' })).filter(({ key }) => key.startsWith('default/'));
  const transitionsOf = async (name: string) =>
    (await transitions()).filter(({ key }) => key === `default/${name}`).map(({ atMs, to }) => ({ atMs, to }));

  it('F5: is followed by an alert for each agent that was killed during it, within the timeout plus one interval', async () => {
    const withinMs = (KEEPALIVES.warningS + KEEPALIVES.intervalS) * 1_000 + LATE_MS;
    for (const name of KILLED) {
      const wait = { what: `the alert for ${name}`, withinMs: recoveredMs + withinMs - Date.now(), everyMs: 50 };
      const [, warning] = await eventually(
        () => transitionsOf(name),
        ({ length }) => length >= 2,
        wait,
      );
      expect(warning?.to).to.equal('warning');
      expect(warning?.atMs).to.be.within(restartedMs + KEEPALIVES.warningS * 1_000, recoveredMs + withinMs);
    }
  });

  it('F6: causes no alert for an agent that kept running', async () => {
    await delay(recoveredMs + (KEEPALIVES.criticalS + KEEPALIVES.intervalS) * 1_000 - Date.now());
    for (const name of SURVIVORS) {
      expect(
        (await transitionsOf(name)).map(({ to }) => to),
        name,
      ).to.deep.equal(['registered']);
      expect(await program.api.entity(name))
        .to.have.property('last_seen')
        .that.is.above(recoveredMs / 1_000 - 1);
    }
    for (const name of KILLED) {
      expect(
        (await transitionsOf(name)).map(({ to }) => to),
        name,
      ).to.deep.equal(['registered', 'warning', 'critical']);
    }
  });
});
