import type { CheckEvent } from '../../src/resources/event.ts';
import { expect } from 'chai';
import { isRunning } from '../exec/is-running.ts';
import { eventually } from '../support/eventually.ts';
import { AgentProcess } from './agent-process.ts';
import { FakeBackend } from './fake-backend.ts';
import { InProcessAgent, type RunningAgent } from './in-process-agent.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const nowS = (): number => Math.floor(Date.now() / 1000);

const isScheduled = (msg: unknown): boolean => String(msg).startsWith('scheduling check execution');

describe('an agent', function () {
  this.timeout(30_000);
  let backend: FakeBackend;
  let agent: RunningAgent;

  const stopBoth = async (): Promise<void> => {
    await agent.kill();
    await backend.stop();
  };

  describe('at its handshake', () => {
    afterEach(stopBoth);

    it('sends its identity under both prefixes, requests protobuf and acknowledgements, and offers no compression', async () => {
      backend = await FakeBackend.start();
      agent = AgentProcess.start(backend.url, '--subscriptions', 'web,db', '--user', 'joe', '--password', 'p:w');
      const { headers } = await backend.ready();
      expect(headers).to.include({
        'sensu-agentname': 'tester',
        'mon-agentname': 'tester',
        'sensu-namespace': 'default',
        'sensu-subscriptions': 'web,db',
        'sensu-user': 'joe',
        authorization: `Basic ${Buffer.from('joe:p:w').toString('base64')}`,
        accept: 'application/octet-stream',
        'mon-ack': '1',
      });
      expect(headers['mon-queue']).to.match(UUID);
      expect(headers).to.not.have.any.keys('sec-websocket-extensions', 'sec-websocket-protocol', 'origin');
    });
  });

  describe('once connected', () => {
    afterEach(stopBoth);

    it('sends a keepalive after the entity config, and then one per interval, numbered from 1', async () => {
      backend = await FakeBackend.start();
      agent = InProcessAgent.start(backend.url, '--keepalive-interval', '1', '--keepalive-warning-timeout', '30');
      await eventually(
        () => backend.keepalives.length,
        (count) => count >= 3,
        { withinMs: 15_000 },
      );
      expect(backend.keepalives.slice(0, 3).map(({ body }) => body.sequence)).to.deep.equal([1, 2, 3]);
      const [first] = backend.keepalives;
      expect(first?.body.id).to.match(UUID);
      expect(first?.body.timestamp).to.be.closeTo(nowS(), 5);
      expect(first?.body.metadata).to.deep.equal({ namespace: 'default' });
      expect(first?.body.check).to.deep.include({
        interval: 1,
        timeout: 30,
        ttl: 0,
        metadata: { name: 'keepalive', namespace: 'default' },
      });
      expect(first?.body.entity).to.deep.include({ entity_class: 'agent', user: 'agent', subscriptions: [] });
      expect(first?.body.entity.system.os).to.equal('linux');
      expect(first?.body.entity.system.network.interfaces).to.satisfy((interfaces: { addresses: string[] }[]) =>
        interfaces.some(({ addresses }) => addresses.some((address) => /\/\d+$/.test(address))),
      );
    });

    it('builds its events with the entity config it received, until the connection ends', async () => {
      const metadata = { name: 'tester', namespace: 'default', labels: { from: 'backend' } };
      backend = await FakeBackend.start({
        entityConfig: { metadata, entity_class: 'agent', subscriptions: ['other', 'entity:tester'], user: 'boss' },
      });
      agent = InProcessAgent.start(backend.url, '--subscriptions', 'local');
      await backend.ready();
      expect(backend.keepalives[0]?.body.entity).to.deep.include({
        subscriptions: ['other', 'entity:tester'],
        user: 'boss',
        metadata,
      });
      backend.options.entityConfig = { metadata: { name: 'not found', namespace: 'default' }, entity_class: 'agent' };
      backend.current?.socket.terminate();
      await eventually(() => backend.sessions.length === 2);
      await backend.ready();
      expect(backend.keepalives[1]?.body).to.deep.include({ sequence: 1 });
      expect(backend.keepalives[1]?.body.entity.subscriptions).to.deep.equal(['local']);
    });

    it('keeps its own name when an entity config carries another', async () => {
      const metadata = { name: 'somebody-else', namespace: 'default' };
      backend = await FakeBackend.start({ entityConfig: { metadata, entity_class: 'agent' } });
      agent = InProcessAgent.start(backend.url);
      await backend.ready();
      expect(backend.keepalives[0]?.body.entity.metadata.name).to.equal('tester');
    });
  });

  describe('asked for a check', () => {
    before(async () => {
      backend = await FakeBackend.start();
      agent = InProcessAgent.start(backend.url);
      await backend.ready();
    });
    after(stopBoth);

    it('answers with a numbered result that carries the request', async () => {
      const issued = nowS();
      backend.requestCheck(
        {
          metadata: { name: 'disk' },
          command: 'echo out; echo err >&2; echo "$WHO"; exit 1',
          env_vars: ['WHO=me'],
          handlers: ['ops'],
          pipelines: [{ name: 'incidents', type: 'Pipeline', api_version: 'core/v2' }],
          proxy_entity_name: 'router',
        },
        issued,
      );
      const [event] = await backend.eventsOf('disk');
      expect(event?.type).to.equal('event 1');
      expect(event?.body.id).to.match(UUID);
      expect(event?.body).to.deep.include({ sequence: 1 });
      expect(event?.body.pipelines).to.deep.equal([{ name: 'incidents', type: 'Pipeline', api_version: 'core/v2' }]);
      expect(event?.body.entity.metadata.name).to.equal('tester');
      expect(event?.body.check).to.deep.include({
        status: 1,
        output: 'out\nerr\nme\n',
        issued,
        handlers: ['ops'],
        proxy_entity_name: 'router',
        processed_by: 'tester',
        command: 'echo out; echo err >&2; echo "$WHO"; exit 1',
      });
      expect(event?.body.check.executed).to.be.closeTo(issued, 5);
      expect(event?.body.check.duration).to.be.greaterThan(0).and.lessThan(5);
    });

    it('fills the tokens of a request, but not those that its backend has filled', async () => {
      const command = `echo '{{ .name }}'`;
      backend.requestCheck({ metadata: { name: 'own' }, command, env_vars: ['A={{ .name }}'] }, 1);
      const [own] = await backend.eventsOf('own');
      expect(own?.body.check).to.deep.include({ command, output: 'tester\n', env_vars: ['A=tester'] });
      const metadata = { name: 'filled', namespace: 'default' };
      const config = { metadata, command, interval: 60, proxy_entity_name: 'router' };
      backend.send(`check_request\n${JSON.stringify({ config, issued: 1, tokens_filled: true })}`);
      const [filled] = await backend.eventsOf('filled');
      expect(filled?.body.check).to.deep.include({ command, output: '{{ .name }}\n' });
    });

    it('passes the secrets of a request to the command, after which env_vars win; the event has no secret', async () => {
      const metadata = { name: 'secretive', namespace: 'default' };
      const command = 'test "$KEY" = s3cret-v4lue && echo "$WHO"';
      const secretReferences = [{ name: 'KEY', secret: 'key' }];
      const config = { metadata, command, interval: 60, env_vars: ['WHO=me'], secrets: secretReferences };
      const secrets = ['KEY=s3cret-v4lue', 'WHO=you'];
      backend.send(`check_request\n${JSON.stringify({ config, issued: 1, secrets })}`);
      const [event] = await backend.eventsOf('secretive');
      expect(event?.body.check).to.deep.include({ status: 0, output: 'me\n' });
      expect(JSON.stringify({ ...event?.body, check: { ...event?.body.check, command: '' } })).to.not.include(
        's3cret-v4lue',
      );
    });

    it('reports tokens that it cannot fill with status 3, and does not run the command', async () => {
      const command = 'echo ran {{ .labels.nope }}';
      backend.requestCheck({ metadata: { name: 'unfilled' }, command, env_vars: ['A={{ .name }}'] }, 1);
      const [event] = await backend.eventsOf('unfilled');
      expect(event?.body.check).to.deep.include({
        command,
        env_vars: ['A={{ .name }}'],
        status: 3,
        output:
          'error while substituting check tokens: command: unmatched token: template: command:1:19: ' +
          'executing "command" at <.labels.nope>: map has no entry for key "nope"',
      });
    });

    it('refuses a request that is not newer than the last of the same check and proxy entity', async () => {
      const check = { metadata: { name: 'twice' }, command: 'echo ran' };
      backend.requestCheck(check, 100);
      await backend.eventsOf('twice');
      backend.requestCheck(check, 100);
      backend.requestCheck(check, 99);
      backend.requestCheck({ ...check, proxy_entity_name: 'router' }, 100);
      backend.requestCheck({ metadata: { name: 'never' }, command: 'true' }, 0);
      const events = await backend.eventsOf('twice', 2);
      const refusals = await eventually(
        () => agent.log.filter(({ msg, check: name }) => msg === 'error handling message' && name !== undefined),
        (lines) => lines.length === 3,
      );
      expect(refusals.map(({ check: name, level, error }) => `${name} ${level}: ${error}`)).to.deep.equal([
        'twice warning: check request has already been received - agent and check may have multiple matching subscriptions',
        'twice error: check request is older than a previously received check request',
        'never warning: check request has already been received - agent and check may have multiple matching subscriptions',
      ]);
      expect(events.map(({ body }) => body.check.proxy_entity_name as unknown)).to.deep.equal(['', 'router']);
    });

    it('refuses a check that is still running', async () => {
      backend.requestCheck({ metadata: { name: 'slow' }, command: 'sleep 1; echo once' }, 1);
      backend.requestCheck({ metadata: { name: 'slow' }, command: 'sleep 1; echo twice' }, 2);
      const [event] = await backend.eventsOf('slow');
      expect(event?.body.check.output).to.equal('once\n');
      expect(agent.log.map(({ error }) => error)).to.include('check execution still in progress: slow');
    });

    it('kills a command that exceeds its timeout, grandchildren included', async () => {
      const command = 'sh -c "sleep 60 & echo \\$!; wait"';
      backend.requestCheck({ metadata: { name: 'stuck' }, command, timeout: 1 }, 1);
      const [event] = await backend.eventsOf('stuck');
      expect(event?.body.check.status).to.equal(2);
      const [, pid] = /^Execution timed out\n(\d+)\n$/.exec(event?.body.check.output ?? '') ?? [];
      await eventually(() => !isRunning(Number(pid)));
    });

    it('answers an invalid one with status 3 and the reason', async () => {
      backend.requestCheck({ metadata: { name: 'bad' }, command: 'true', interval: 10, ttl: 5 }, 7);
      const [event] = await backend.eventsOf('bad');
      expect(event?.body.check).to.include({
        status: 3,
        output: 'given check is invalid: ttl must be greater than check interval',
        issued: 7,
        processed_by: 'tester',
      });
    });

    it('passes the redacted event on standard input, and discards the output, when the check says so', async () => {
      const metadata = { name: 'tester', namespace: 'default', labels: { password: 'hidden', area: 'north' } };
      backend.send(`entity_config\n${JSON.stringify({ metadata, entity_class: 'agent' })}`);
      backend.requestCheck({ metadata: { name: 'reader' }, command: 'cat', stdin: true }, 1);
      const [event] = await backend.eventsOf('reader');
      const given = JSON.parse(event?.body.check.output ?? '') as CheckEvent;
      expect(given.entity.metadata.labels).to.deep.equal({ password: 'REDACTED', area: 'north' });
      expect(given.check.metadata.name).to.equal('reader');
      expect(event?.body.entity.metadata.labels).to.deep.equal({ password: 'hidden', area: 'north' });
      backend.requestCheck({ metadata: { name: 'quiet' }, command: 'echo loud', discard_output: true }, 1);
      const [quiet] = await backend.eventsOf('quiet');
      expect(quiet?.body.check.output).to.equal('');
    });

    it('reports the signal that killed a shell', async () => {
      backend.requestCheck({ metadata: { name: 'killed' }, command: 'echo a; kill -TERM $$' }, 1);
      const [event] = await backend.eventsOf('killed');
      expect(event?.body.check).to.include({ status: 143, output: 'a\nCommand killed by SIGTERM\n' });
    });

    it('truncates an output that would exceed the message limit', async () => {
      backend.requestCheck({ metadata: { name: 'flood' }, command: 'yes | head -c 20000000' }, 1);
      const [event] = await backend.eventsOf('flood');
      const output = event?.body.check.output;
      expect(Buffer.byteLength(JSON.stringify(event?.body))).to.be.lessThan(10 * 1024 * 1024);
      expect(output).to.match(/the event would be too large\n$/);
    });
  });

  describe('when a connection is lost', () => {
    afterEach(stopBoth);

    it('resends unacknowledged events with the same numbers, and no others', async () => {
      backend = await FakeBackend.start({ acksEvents: false });
      agent = InProcessAgent.start(backend.url);
      await backend.ready();
      for (const [index, name] of ['a', 'b', 'c'].entries()) {
        backend.requestCheck({ metadata: { name }, command: `echo ${name}` }, 1);
        await backend.eventsOf(name, 1);
        expect(backend.events).to.have.lengthOf(index + 1);
      }
      backend.send('ack\n1');
      // What is behind the acknowledgement shows that it was read.
      backend.requestCheck({ metadata: { name: 'd' }, command: 'echo d' }, 1);
      await backend.eventsOf('d');
      const queue = backend.current?.headers['mon-queue'];
      backend.current?.socket.terminate();
      await backend.eventsOf('d', 2);
      const again = backend.current?.frames.filter(({ type }) => type.startsWith('event')) ?? [];
      expect(backend.current?.headers['mon-queue']).to.equal(queue);
      expect(again.map(({ type, body }) => `${type} ${body.check.output}`)).to.deep.equal([
        'event 2 b\n',
        'event 3 c\n',
        'event 4 d\n',
      ]);
      expect(again.map(({ body }) => body.id as unknown)).to.deep.equal(
        backend.sessions[0]?.frames
          .filter(({ type }) => /^event [234]$/.test(type))
          .map(({ body }) => body.id as unknown),
      );
    });

    it('delivers the results of checks that ended in between', async () => {
      backend = await FakeBackend.start();
      agent = InProcessAgent.start(backend.url);
      await backend.ready();
      backend.requestCheck({ metadata: { name: 'slow' }, command: 'sleep 0.3; echo done' }, 1);
      await eventually(() => agent.log.some(({ msg }) => isScheduled(msg)));
      backend.current?.socket.terminate();
      const [event] = await backend.eventsOf('slow');
      expect(event?.body.check.output).to.equal('done\n');
      expect(backend.sessions).to.have.lengthOf(2);
    });

    it('sends events without numbers, and only once, to a backend that does not acknowledge', async () => {
      backend = await FakeBackend.start({ acknowledges: false });
      agent = InProcessAgent.start(backend.url);
      await backend.ready();
      backend.requestCheck({ metadata: { name: 'a' }, command: 'echo a' }, 1);
      const [event] = await backend.eventsOf('a');
      expect(event?.type).to.equal('event');
      backend.requestCheck({ metadata: { name: 'b' }, command: 'echo b' }, 1);
      await backend.eventsOf('b');
      backend.current?.socket.terminate();
      await eventually(() => backend.sessions.length === 2);
      await backend.ready();
      backend.requestCheck({ metadata: { name: 'c' }, command: 'echo c' }, 1);
      await backend.eventsOf('c');
      expect(backend.events.map(({ body }) => body.check.metadata.name as unknown)).to.deep.equal(['a', 'b', 'c']);
    });

    it('waits longer before each attempt while a backend refuses it', async () => {
      backend = await FakeBackend.start({ refuseWith: 402 });
      agent = InProcessAgent.start(backend.url);
      await eventually(() => backend.attemptsMs.length === 2, Boolean, { withinMs: 10_000 });
      backend.options.refuseWith = undefined;
      await backend.ready();
      const [first = 0, second = 0, third = 0] = backend.attemptsMs;
      expect(second - first).to.be.greaterThan(950);
      expect(third - second).to.be.greaterThan(1_950);
      const refusal = agent.log.find(({ msg }) => msg === 'reconnection attempt failed');
      expect(refusal?.['error']).to.equal('handshake failed with status 402: no entry');
    });

    it('delays reconnects to a backend that accepts and closes at once', async () => {
      backend = await FakeBackend.start();
      agent = InProcessAgent.start(backend.url);
      await backend.ready();
      backend.current?.socket.terminate();
      await eventually(() => backend.attemptsMs.length === 2);
      const [first = 0, second = 0] = backend.attemptsMs;
      expect(second - first).to.be.greaterThan(950);
    });
  });

  describe('that receives an invalid message', () => {
    before(async () => {
      backend = await FakeBackend.start();
      agent = InProcessAgent.start(backend.url);
      await backend.ready();
    });
    after(stopBoth);

    for (const { what, message } of [
      { what: 'a frame of an unknown type', message: 'hook_request\n{}' },
      { what: 'a check request that is no JSON', message: 'check_request\n{"config":' },
      { what: 'a check request without a config', message: 'check_request\n{"issued":1}' },
      { what: 'a check request with a config of another shape', message: 'check_request\n{"config":{"command":5}}' },
      { what: 'an entity config that is null', message: 'entity_config\nnull' },
      { what: 'an acknowledgement that is no number', message: 'ack\nall' },
    ]) {
      it(`continues the session after ${what}`, async () => {
        const name = what.replaceAll(' ', '-');
        const complaints = (): number => agent.log.filter(({ msg }) => msg === 'error handling message').length;
        const before = complaints();
        backend.send(message);
        backend.requestCheck({ metadata: { name }, command: 'true' }, 1);
        await backend.eventsOf(name);
        expect(backend.sessions).to.have.lengthOf(1);
        await eventually(() => complaints() === before + 1);
      });
    }
  });

  describe('in trouble with its backend', () => {
    afterEach(stopBoth);

    it('ends the session after a frame without a line feed, and connects again', async () => {
      backend = await FakeBackend.start();
      agent = InProcessAgent.start(backend.url);
      await backend.ready();
      backend.send('no type here');
      await eventually(() => backend.sessions.length === 2);
      expect(backend.sessions[0]?.closed).to.deep.equal({ code: 1001, reason: 'bye' });
      await backend.ready();
    });

    it('drops an event that is too large for the backend, and delivers the rest', async () => {
      backend = await FakeBackend.start({ acksEvents: false });
      agent = InProcessAgent.start(backend.url);
      await backend.ready();
      backend.requestCheck({ metadata: { name: 'large' }, command: 'yes | head -c 100000' }, 1);
      await backend.eventsOf('large');
      backend.requestCheck({ metadata: { name: 'small' }, command: 'true' }, 1);
      await backend.eventsOf('small');
      backend.current?.socket.close(1009);
      await backend.eventsOf('small', 2);
      expect(await backend.eventsOf('large')).to.have.lengthOf(1);
    });
  });

  describe('asked to stop', () => {
    afterEach(stopBoth);

    it('waits for running checks, delivers them, says bye and exits with 0', async () => {
      backend = await FakeBackend.start();
      agent = AgentProcess.start(backend.url);
      await backend.ready();
      backend.requestCheck({ metadata: { name: 'slow' }, command: 'sleep 0.5; echo done' }, 1);
      await eventually(() => agent.log.some(({ msg }) => isScheduled(msg)));
      expect(await agent.stop()).to.equal(0);
      const [event] = await backend.eventsOf('slow');
      expect(event?.body.check.output).to.equal('done\n');
      await eventually(() => backend.current?.closed);
      expect(backend.current?.closed).to.deep.equal({ code: 1001, reason: 'bye' });
    });

    it('kills running checks and sends no results when asked twice', async () => {
      backend = await FakeBackend.start();
      agent = InProcessAgent.start(backend.url);
      await backend.ready();
      backend.requestCheck({ metadata: { name: 'endless' }, command: 'sleep 60' }, 1);
      await eventually(() => agent.log.some(({ msg }) => isScheduled(msg)));
      agent.signal('SIGINT');
      await eventually(() => agent.log.some(({ msg }) => String(msg).startsWith('signal "interrupt"')));
      expect(await agent.stop()).to.equal(0);
      expect(backend.events).to.deep.equal([]);
    });

    it('keeps running when its log is no longer read', async () => {
      backend = await FakeBackend.start();
      const program = AgentProcess.start(backend.url);
      agent = program;
      await backend.ready();
      program.child.stderr?.destroy();
      for (const name of ['a', 'b', 'c']) {
        backend.requestCheck({ metadata: { name }, command: 'true' }, 1);
        await backend.eventsOf(name);
      }
      expect(await agent.stop()).to.equal(0);
    });

    it('exits with 0 while no backend is reachable', async () => {
      backend = await FakeBackend.start({ refuseWith: 503 });
      agent = InProcessAgent.start(backend.url);
      await eventually(() => backend.attemptsMs.length > 0, Boolean, { withinMs: 10_000 });
      expect(await agent.stop()).to.equal(0);
    });
  });
});
