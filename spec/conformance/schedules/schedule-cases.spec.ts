import { expect } from 'chai';
import { jsonOf } from '../../support/agent-client.ts';
import type { ApiAnswer } from '../../support/api-client.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { SubscribedAgent } from '../../support/subscribed-agent.ts';

/** The cases of `spec/04` about schedules that no other test has; `spec-04-cases.spec.ts` lists all of them. */
describe('the conformance cases of schedules', () => {
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());

  async function put(namespace: string, name: string, changes: object): Promise<ApiAnswer> {
    if (namespace !== 'default') await api.put(`/api/core/v2/namespaces/${namespace}`, { name: namespace });
    const metadata = { name, namespace };
    const check = { metadata, command: 'x', subscriptions: ['sys'], publish: true, ...changes };
    const answer = await api.put(`/ns/${namespace}/checks/${name}`, check);
    await backend.clock.settle();
    return answer;
  }

  const nextAtS = async (namespace: string, name: string): Promise<number> => {
    const { json } = await api.get(`/api/mon/v1/namespaces/${namespace}/checks/${name}/schedule`);
    return at(json, 'next_at') as number;
  };

  const refusalOf = async (changes: object): Promise<unknown> => {
    const { status, json } = await put('default', 'c', changes);
    return status === 201 ? undefined : [status, at(json, 'message')];
  };

  it('case 2: checks of one name and interval in two namespaces have the same ticks', async () => {
    for (const namespace of ['default', 'other']) await put(namespace, 'check_cpu', { interval: 60 });
    expect(await nextAtS('other', 'check_cpu')).to.equal(await nextAtS('default', 'check_cpu'));
  });

  it('case 4: a check has either an interval or a cron expression, and a splay within its bounds', async () => {
    const proxies = (splay_coverage: number): object => ({
      interval: 60,
      proxy_requests: { entity_attributes: ['true'], splay: true, splay_coverage },
    });
    const refused: [object, string][] = [
      [{ interval: 60, cron: '* * * * *' }, 'must only specify either an interval or a cron schedule'],
      [proxies(0), 'proxy request splay coverage must be greater than 0 if splay is enabled'],
      [proxies(101), 'proxy request splay coverage must be between 0 and 100'],
    ];
    for (const [changes, reason] of refused) {
      expect(await refusalOf(changes)).to.deep.equal([400, `resource is invalid: ${reason}`]);
    }
    expect(await refusalOf(proxies(100))).to.equal(undefined);
  });

  it('case 5: cron expressions have the dialect of the reference', async () => {
    const refused = ['0 0 * * 7', '* * * *', '0 0 * * * *', '0 0 * * 5-0', '@reboot', 'CRON_TZ=Nowhere/X * * * * *'];
    for (const cron of refused) expect((await put('default', 'c', { cron })).status, cron).to.equal(400);
    const accepted = ['? * * * ?', '@every 90s', 'TZ=Asia/Tokyo @daily'];
    for (const cron of accepted) expect((await put('default', 'c', { cron })).status, cron).to.equal(201);
  });

  it('case 6: a cron expression of Tokyo at nine is due at midnight UTC', async () => {
    await put('default', 'tokyo', { cron: 'CRON_TZ=Asia/Tokyo 0 9 * * *' });
    expect(new Date((await nextAtS('default', 'tokyo')) * 1_000).toISOString()).to.equal('2023-11-15T00:00:00.000Z');
  });

  it('case 16: a request is sent without an asset that does not exist', async () => {
    const agent = await SubscribedAgent.register(backend, 'runner', 'sys');
    await put('default', 'c', { interval: 3_600, runtime_assets: ['none'] });
    expect((await api.post('/ns/default/checks/c/execute', {})).status).to.equal(202);
    const [sent] = await agent.requests();
    expect(at(sent?.request, 'assets')).to.equal(null);
  });

  /** Returns the checks that an agent of the namespace is asked to run within a minute of its registration. */
  async function requestedIn(namespace: string): Promise<string[]> {
    const subscriptions = ['sys', `entity:${namespace}`];
    const agent = await ReportingAgent.connect(backend, namespace, { namespace, subscriptions });
    await agent.keepalive({ entity: { subscriptions } });
    await backend.clock.advance(60_000);
    await agent.socket.ping('a minute later');
    const requests = agent.socket.waitingFrames.filter(({ type }) => type === 'check_request');
    return requests.map((frame) => String(at(jsonOf(frame), 'config', 'metadata', 'name')));
  }

  it('case 26: checks whose namespace and name make the same text with a dash both run', async () => {
    await put('c', 'a-b', { interval: 60 });
    await put('b-c', 'a', { interval: 60 });
    expect(await requestedIn('c')).to.deep.equal(['a-b']);
    expect(await requestedIn('b-c')).to.deep.equal(['a']);
  });
});
