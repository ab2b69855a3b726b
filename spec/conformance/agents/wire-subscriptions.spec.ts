import { expect } from 'chai';
import type { AgentClient } from '../../support/agent-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const INTERVAL_S = 5;

describe('the subscriptions of a connected agent', () => {
  const backend = perSuite(() => RestartableBackend.start());
  const api = perSuite(() => backend.login());

  async function subscribe(name: string, subscriptions: readonly string[]): Promise<void> {
    const entity = { entity_class: 'agent', subscriptions, metadata: { name, namespace: 'default' } };
    expect(await api.put(`/ns/default/entities/${name}`, entity)).to.have.property('status', 200);
  }

  /** The checks that the agent receives during this many intervals. */
  async function requestsOf(agent: AgentClient, intervals: number): Promise<unknown[]> {
    await backend.clock.advance(intervals * INTERVAL_S * 1_000);
    // Frames are in order: the pong arrives after all of them.
    await agent.ping(`after ${backend.clock.nowMs()}`);
    const requests: unknown[] = [];
    while (agent.waitingFrames.length > 0) requests.push(await agent.next('check_request'));
    return requests.map((request) => at(request, 'config', 'metadata', 'name'));
  }

  it('case 14: bring it a new entity_config and the checks of an added one, and none of a removed one', async () => {
    const metadata = { name: 'db-size', namespace: 'default' };
    const check = { command: 'true', interval: INTERVAL_S, publish: true, subscriptions: ['db'], metadata };
    expect(await api.put('/ns/default/checks/db-size', check)).to.have.property('status', 201);
    const reporting = await ReportingAgent.connect(backend, 'sub-14');
    await reporting.keepalive({ timeout: 3_600, entity: { subscriptions: ['linux'] } });
    const agent = reporting.socket;
    expect(await agent.next('entity_config')).to.deep.include({ subscriptions: ['linux', 'entity:sub-14'] });
    expect(await requestsOf(agent, 2)).to.deep.equal([]);

    await subscribe('sub-14', ['linux', 'db']);
    expect(await agent.next('entity_config')).to.deep.include({ subscriptions: ['linux', 'db', 'entity:sub-14'] });
    expect(await requestsOf(agent, 2)).to.deep.equal(['db-size', 'db-size']);

    await subscribe('sub-14', ['linux']);
    expect(await agent.next('entity_config')).to.deep.include({ subscriptions: ['linux', 'entity:sub-14'] });
    expect(await requestsOf(agent, 2)).to.deep.equal([]);
  });
});
