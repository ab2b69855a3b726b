import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { InProcessAgent } from './in-process-agent.ts';
import { FakeBackend } from './fake-backend.ts';

/** The URL of a port without a listener. */
const deadUrl = async (): Promise<string> => `ws://127.0.0.1:${await freePort()}`;

describe('the settings of an agent', function () {
  this.timeout(30_000);
  let backend: FakeBackend;
  let agent: InProcessAgent;

  afterEach(async () => {
    await agent.kill();
    await backend.stop();
  });

  it('name the flag of an allow list that cannot be read, or is not valid', async () => {
    backend = await FakeBackend.start();
    agent = InProcessAgent.start(backend.url, '--allow-list', '/nope.json');
    expect(await agent.ended()).to.equal(1);
    expect(agent.log.map(({ flag, error }) => [flag, error])).to.deep.include([
      'allow-list',
      "cannot read --allow-list: ENOENT: no such file or directory, open '/nope.json'",
    ]);
    agent = InProcessAgent.start(backend.url, '--allow-list', '/etc/hostname');
    expect(await agent.ended()).to.equal(1);
    expect(agent.log.map(({ flag, error }) => [flag, error])).to.deep.include(['allow-list', 'invalid file extension']);
  });

  it('are in the entity and the metadata of its keepalives, real values of redacted keys included', async () => {
    backend = await FakeBackend.start();
    const directory = await temporaryDirectory();
    const file = join(directory.path, 'agent.yml');
    await writeFile(
      file,
      'labels: {proxyType: x, api_token: t}\nkeepalive-handlers: [ops, oncall]\nderegister: true\n',
    );
    const flags = [
      '--deregistration-handler',
      'cmdb',
      '--redact',
      'api_token',
      '--keepalive-check-labels',
      'from=here',
    ];
    agent = new InProcessAgent(
      ['start', '-c', file, '--name', 'tester', '--backend-url', backend.url, '--discover-processes', ...flags],
      { MON_ANNOTATIONS: '{"Note":"a b"}', MON_KEEPALIVE_PIPELINES: 'core/v2.Pipeline.ops' },
    );
    await backend.ready();
    const body = backend.keepalives[0]?.body;
    expect(body?.entity).to.deep.include({
      metadata: {
        name: 'tester',
        namespace: 'default',
        labels: { proxytype: 'x', api_token: 't' },
        annotations: { Note: 'a b' },
      },
      redact: ['api_token'],
      keepalive_handlers: ['ops', 'oncall'],
      deregister: true,
      deregistration: { handler: 'cmdb' },
    });
    expect(body?.entity.system.processes).to.equal(null);
    expect(body?.metadata).to.deep.equal({ namespace: 'default', labels: { from: 'here' } });
    expect(body?.pipelines).to.deep.equal([{ name: 'ops', type: 'Pipeline', api_version: 'core/v2' }]);
    await directory.remove();
  });

  it('leave the network interfaces out of the entity on request', async () => {
    backend = await FakeBackend.start();
    agent = InProcessAgent.start(backend.url);
    await backend.ready();
    const [plain] = backend.keepalives;
    const { interfaces } = plain?.body.entity.system.network ?? {};
    expect(interfaces?.find(({ name }) => name === 'lo')?.addresses).to.include('127.0.0.1/8');
    await agent.kill();
    agent = InProcessAgent.start(backend.url, '--strip-networks');
    const [, stripped] = await eventually(
      () => backend.keepalives,
      (found) => found.length > 1,
      { withinMs: 10_000 },
    );
    expect(stripped?.body.entity.system.network).to.deep.equal({ interfaces: null });
    expect(stripped?.body.entity.system).to.include({ hostname: plain?.body.entity.system.hostname, os: 'linux' });
  });

  it('take precedence when the agent manages its entity, which then waits for no entity config', async () => {
    backend = await FakeBackend.start({ entityConfig: undefined });
    agent = InProcessAgent.start(backend.url, '--agent-managed-entity', '--labels', 'a=b', '--user', 'joe');
    await backend.ready();
    const managed = {
      name: 'tester',
      namespace: 'default',
      labels: { a: 'b', 'sensu.io/managed_by': 'sensu-agent' },
      created_by: 'joe',
    };
    expect(backend.keepalives[0]?.body.entity.metadata).to.deep.equal(managed);
    const metadata = { name: 'tester', namespace: 'default', labels: { from: 'backend' } };
    backend.send(`entity_config\n${JSON.stringify({ metadata, entity_class: 'agent', subscriptions: ['other'] })}`);
    backend.requestCheck({ metadata: { name: 'disk' }, command: 'true' }, 1);
    const [event] = await backend.eventsOf('disk');
    expect(event?.body.entity.metadata).to.deep.equal(managed);
  });

  it('may name several backends, of which an unreachable one is skipped', async () => {
    backend = await FakeBackend.start();
    const urls = `${await deadUrl()},${backend.url}`;
    agent = InProcessAgent.start(urls, '--retry-min', '100ms');
    await backend.ready();
  });

  it('set the ping interval and the pong timeout', async () => {
    backend = await FakeBackend.start({ pongs: false });
    agent = InProcessAgent.start(
      backend.url,
      '--backend-heartbeat-interval=1',
      '--backend-heartbeat-timeout=2',
      '--retry-min=100ms',
    );
    await eventually(() => backend.sessions.length === 2, Boolean, { withinMs: 15_000 });
    expect(backend.sessions[0]?.pings).to.be.greaterThan(0);
    expect(agent.log.map(({ msg }) => msg)).to.include('backend does not answer pings');
  });

  it('set the handshake timeout and the reconnect delay', async () => {
    backend = await FakeBackend.start({ stalls: true });
    agent = InProcessAgent.start(
      backend.url,
      '--backend-handshake-timeout=1',
      '--retry-min=200ms',
      '--retry-max=200ms',
    );
    await eventually(() => backend.attemptsMs.length === 3, Boolean, { withinMs: 15_000 });
    const [first = 0, second = 0, third = 0] = backend.attemptsMs;
    expect(second - first).to.be.within(1_150, 3_000);
    expect(third - second).to.be.within(1_150, 3_000);
  });

  it('set the maximum duration of a connection', async () => {
    backend = await FakeBackend.start();
    agent = InProcessAgent.start(backend.url, '--max-session-length', '1s', '--retry-min', '100ms');
    await eventually(() => backend.sessions.length === 2, Boolean, { withinMs: 15_000 });
    expect(backend.sessions[0]?.closed).to.deep.equal({ code: 1001, reason: 'bye' });
  });
});
