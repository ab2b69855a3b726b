import { hostname } from 'node:os';
import { expect } from 'chai';
import { HandshakeRefused } from '../../support/agent-client.ts';
import { checkEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { failingMachines, Sabotage } from '../inspection/failing-machines.ts';

const SYSTEM = 'mon-system';
const QUARANTINE = 'actor-quarantine';
const BROKEN = 'broken-01';
const FAILURES = 5;
const REFUSED = 'namespace mon-system is reserved for the backend';

describe('the namespace of the backend itself', () => {
  const sabotage = perTest(() => new Sabotage());
  const backend = perTest(() => RestartableBackend.start({ machines: failingMachines(sabotage) }));
  const api = perTest(() => backend.login());
  const agent = perTest(() => ReportingAgent.connect(backend, BROKEN));

  /** Starts with an alert about an actor in quarantine. */
  beforeEach(async () => {
    await agent.keepalive();
    await agent.result('disk', { ttl: 600, interval: 1 });
    // A result without a TTL disarms the check TTL, which its actor decides.
    sabotage.arm(`default/${BROKEN}/disk`, 'guard', FAILURES);
    for (let n = 0; n < FAILURES; n += 1) await agent.result('disk', { ttl: 0, interval: 1 });
    expect(await alertStatus()).to.equal(2);
  });

  const alertStatus = async (): Promise<unknown> =>
    at(await api.event(hostname(), QUARANTINE, SYSTEM), 'check', 'status');

  async function refusal(name: string, user?: { username: string; password: string }): Promise<string> {
    const options = { name, namespace: SYSTEM, ...(user === undefined ? {} : { credentials: user }) };
    const error = await backend.connect(options).catch((caught: unknown) => caught);
    if (!(error instanceof HandshakeRefused)) throw new Error(`not refused by the handshake: ${String(error)}`);
    return `${error.status} ${error.body.trim()}`;
  }

  it('accepts no agent of any name, and the refusal is listed', async () => {
    for (const name of [hostname(), 'another-01']) expect(await refusal(name), name).to.equal(`403 ${REFUSED}`);
    const refusals = (await api.get('/api/mon/v1/handshake-refusals')).json as { namespace: string; reason: string }[];
    expect(refusals.map(({ namespace, reason }) => [namespace, reason])).to.deep.equal([
      [SYSTEM, REFUSED],
      [SYSTEM, REFUSED],
    ]);
    expect(await alertStatus()).to.equal(2);
  });

  it('is mentioned only to authorised clients: first the password is checked, then the rights', async () => {
    expect(await refusal(hostname(), { username: 'agent', password: 'wrong' })).to.match(/^401 /);
    const user = { username: 'nobody', password: 'a-long-password' };
    expect((await api.put('/api/core/v2/users/nobody', { ...user, groups: [] })).status).to.equal(201);
    expect(await refusal(hostname(), user)).to.equal('403 Forbidden');
  });

  it('accepts no event of other agents: its alert is unchanged, and the sender is recorded', async () => {
    const forged = checkEvent(hostname(), QUARANTINE, { status: 0 });
    const text = JSON.stringify(forged).replaceAll('"default"', `"${SYSTEM}"`);
    agent.socket.send('event', JSON.parse(text));
    await agent.result('disk');
    expect(await alertStatus()).to.equal(2);
    const entries = await api.ledger({ actor: 'agent', key: `default/${BROKEN}` });
    expect(entries.map(({ details }) => details)).to.deep.equal([{ reason: 'namespace', claimed: SYSTEM }]);
  });

  it("accepts events of users about the backend's own entity", async () => {
    const metadata = (name: string) => ({ metadata: { name, namespace: SYSTEM } });
    const event = { entity: metadata(hostname()), check: { ...metadata(QUARANTINE), interval: 60, status: 0 } };
    const { status } = await api.put(`/ns/${SYSTEM}/events/${hostname()}/${QUARANTINE}`, event);
    expect(status).to.be.within(200, 201);
    expect(await alertStatus()).to.equal(0);
  });
});
