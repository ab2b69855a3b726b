import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { hostname } from 'node:os';
import { expect } from 'chai';
import type { AgentClient } from '../../support/agent-client.ts';
import { jsonOf } from '../../support/agent-client.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive, proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { failingMachines, Sabotage } from '../inspection/failing-machines.ts';

const MINUTE_MS = 60_000;

describe('a message that an actor could not decide', () => {
  const sabotage = perTest(() => new Sabotage());
  const backend = perTest(() => RestartableBackend.start({ machines: failingMachines(sabotage) }));
  const api = perTest(() => backend.login());

  const occurrencesOf = async (entity: string, check: string) =>
    at(await api.event(entity, check), 'check', 'occurrences');

  async function acknowledged(agent: AgentClient, n: number): Promise<void> {
    for (;;) {
      const frame = await agent.nextFrame();
      if (frame.type === 'ack' && Number(jsonOf(frame)) >= n) return;
    }
  }

  it('is sent again by its agent and counted, together with everything sent meanwhile', async () => {
    const options = { name: 'again', queueId: randomUUID() };
    const event = (check: string, ttl = 3_600) => checkEvent('again', check, { status: 1, ttl });
    const first = await backend.connect(options);
    first.send('event 1', event('broken'));
    await acknowledged(first, 1);
    // A result without a TTL disarms the check TTL, which its actor decides.
    sabotage.arm('default/again/broken', 'guard', 1);
    first.send('event 2', event('broken', 0));
    first.send('event 3', event('other'));
    expect(await first.closed()).to.have.property('code', 1011);

    const second = await backend.connect(options);
    second.send('event 2', event('broken', 0));
    second.send('event 3', event('other'));
    await acknowledged(second, 3);
    expect(await occurrencesOf('again', 'broken')).to.equal(2);
    expect(await occurrencesOf('again', 'other')).to.equal(1);
  });

  /** Five failures of the entity's actor, which then receives no keepalives. */
  async function quarantined(name: string): Promise<ReportingAgent> {
    const agent = await ReportingAgent.connect(backend, name);
    await agent.keepalive({ interval: 2, timeout: 30 });
    sabotage.arm(`default/${name}`, 'action', 5);
    for (let failure = 0; failure < 5; failure += 1) await agent.keepalive({ interval: 2, timeout: 30 });
    return agent;
  }

  it('causes no alert for an agent that kept sending keepalives', async () => {
    const agent = await quarantined('patient');
    for (let tick = 0; tick < 12; tick += 1) {
      await backend.clock.advance(5_000);
      await agent.keepalive({ interval: 2, timeout: 30 });
    }
    expect(at(await api.event(hostname(), 'actor-quarantine', 'mon-system'), 'check', 'status')).to.equal(0);
    await backend.clock.advance(29_000);
    expect(at(await api.event('patient', 'keepalive'), 'check', 'status')).to.equal(0);
    await backend.clock.advance(1_000);
    expect(at(await api.event('patient', 'keepalive'), 'check', 'status')).to.equal(1);
  });

  it('is recorded in the ledger even if the entity of the backend itself was deleted', async () => {
    await api.delete(`/ns/mon-system/entities/${hostname()}`);
    await quarantined('unlucky');
    expect(at(await api.event(hostname(), 'actor-quarantine', 'mon-system'), 'check', 'status')).to.equal(2);
    await backend.clock.advance(MINUTE_MS);
    expect(at(await api.event(hostname(), 'actor-quarantine', 'mon-system'), 'check', 'status')).to.equal(0);
  });
});

describe('a keepalive through the API', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());

  const put = (name: string, entityClass: string | undefined) =>
    api.put(`/ns/default/events/${name}/keepalive`, {
      entity: { entity_class: entityClass, metadata: { name, namespace: 'default' } },
      check: { metadata: { name: 'keepalive' }, interval: 2, timeout: 5, status: 0 },
    });
  const statusOf = async (name: string) => at(await api.event(name, 'keepalive'), 'check', 'status');

  it('counts for an agent, whatever class it declares', async () => {
    const agent = await ReportingAgent.connect(backend, 'known');
    await agent.keepalive({ interval: 2, timeout: 5 });
    await backend.clock.advance(4_000);
    expect(await put('known', undefined)).to.have.property('status', 200);
    await backend.clock.advance(4_999);
    expect(await statusOf('known')).to.equal(0);
    await backend.clock.advance(1);
    expect(await statusOf('known')).to.equal(1);
  });

  it('starts no monitor of a proxy entity, whatever class it declares', async () => {
    await api.put('/ns/default/events/switch/port', proxyEvent('switch', 'port'));
    expect(await put('switch', 'agent')).to.have.property('status', 200);
    await backend.clock.advance(MINUTE_MS);
    expect(await statusOf('switch')).to.equal(0);
  });
});

describe('a backend that receives SIGTERM', () => {
  it('notifies its agents, answers open requests, and exits, however busy its clients are', async () => {
    const backend = await BackendProcess.start();
    const api = await backend.login();
    const agent = await backend.connect({ name: 'told' });
    agent.send('keepalive', keepalive('told'));
    await eventually(() => api.entity('told'));
    const connections = new Agent({ keepAlive: true });
    let asking = true;
    const busy = (): void => {
      const asked = request({ port: backend.apiPort, path: '/version', agent: connections }, (answer) => {
        answer.resume();
        answer.once('end', () => {
          if (asking) busy();
        });
      });
      // The client ends when the backend is gone.
      asked.on('error', () => undefined);
      asked.end();
    };
    for (let client = 0; client < 4; client += 1) busy();
    const code = await backend.stop();
    asking = false;
    connections.destroy();
    expect(code).to.equal(0);
    expect(await agent.closed()).to.deep.equal({ code: 1001, reason: 'bye' });
  });
});
