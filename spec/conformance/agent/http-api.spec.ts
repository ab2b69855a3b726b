import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { InProcessAgent } from '../../agent/in-process-agent.ts';
import { FakeBackend } from '../../agent/fake-backend.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { LocalApi } from './local-api.ts';

const EVENT = { check: { metadata: { name: 'nightly-copy' }, status: 1, output: 'late', ttl: 900 } };

describe('the HTTP API of a connected agent', () => {
  const backend = perSuite(() => FakeBackend.start());
  const agent = perSuite(
    () => InProcessAgent.start(backend.url, '--labels', 'own=1'),
    (started) => started.kill(),
  );
  let api: LocalApi;

  before(async () => {
    await backend.ready();
    api = await LocalApi.of(agent);
  });

  const received = (name: string) =>
    eventually(
      () => backend.events.find(({ body }) => body.check?.metadata.name === name)?.body,
      (event) => event !== undefined,
      { what: `the event of ${name}` },
    );

  it('case 41: accepts an event without an entity, and completes it', async () => {
    expect(await api.post(EVENT)).to.deep.include({ status: 202, text: '' });
    const event = await received('nightly-copy');
    expect(event).to.deep.include({ metadata: { namespace: 'default' } });
    expect(event?.id).to.match(/^[\da-f-]{36}$/);
    expect(event?.entity.metadata).to.deep.include({ name: 'tester', labels: { own: '1' } });
    expect(event?.check).to.include({ status: 1, output: 'late', ttl: 900, interval: 1, processed_by: 'tester' });
    expect(event?.check.executed).to.be.closeTo(Date.now() / 1_000, 10);
  });

  const refused: [body: string, text: string][] = [
    ['', 'EOF\n'],
    [' \n', 'EOF\n'],
    ['null', 'an event must be provided\n'],
    ['"foo"', 'the event must be a JSON object\n'],
    ['[]', 'the event must be a JSON object\n'],
    ['{"check":', 'unexpected EOF\n'],
    ['{}', 'at least check or metrics need to be instantiated for this event\n'],
    ['{"check":{"status":0}}', 'check name must not be empty\n'],
    ['{"check":{"metadata":{"name":"a b"}}}', 'check name cannot contain spaces or special characters\n'],
    ['{"check":{"metadata":{"name":"a"},"status":-1}}', 'check.status must be >= 0\n'],
    ['{"check":{"metadata":{"name":"a"},"ttl":4}}', 'minimum ttl is 5 seconds\n'],
  ];
  for (const [body, text] of refused) {
    it(`case 41: refuses ${JSON.stringify(body)} with 400 and the reason`, async () => {
      const answer = await api.send('POST', '/events', body);
      expect(answer).to.deep.include({ status: 400, text });
      expect(answer.headers).to.include({ 'x-content-type-options': 'nosniff' });
    });
  }

  it('case 42: makes another entity the proxy entity of the check', async () => {
    const check = { metadata: { name: 'uplink' } };
    expect((await api.post({ entity: { metadata: { name: 'sw1' } }, check })).status).to.equal(202);
    const event = await received('uplink');
    expect(event?.check.proxy_entity_name).to.equal('sw1');
    expect(event?.entity.metadata.name).to.equal('tester');
  });

  it('case 43: accepts metrics without a check, for the entity of the agent', async () => {
    const points = [{ name: 'rpm', value: 1.5, timestamp: 1_700_000_000, tags: [{ name: 'fan', value: '1' }] }];
    expect((await api.post({ entity: { metadata: { name: 'sw2' } }, metrics: { points } })).status).to.equal(202);
    const event = await eventually(() => backend.events.find(({ body }) => body.check === undefined)?.body);
    expect(event?.metrics?.points).to.deep.equal(points);
    expect(event?.entity.metadata.name).to.equal('tester');
  });

  it('keeps a connection open after each answer, and announces when it closes one with an unread body', async () => {
    const connection = connect(api.port, '127.0.0.1');
    let received = '';
    connection.on('data', (chunk) => {
      received += chunk.toString();
    });
    const statuses = (): (string | undefined)[] =>
      [...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, code]) => code);
    const head = 'Host: localhost\r\n';
    const expected: string[] = [];
    for (const [request, status] of [
      [`GET /healthz HTTP/1.1\r\n${head}\r\n`, '200'],
      [`GET /version HTTP/1.1\r\n${head}\r\n`, '200'],
      [`GET /events HTTP/1.1\r\n${head}\r\n`, '405'],
      [`GET /none HTTP/1.1\r\n${head}\r\n`, '404'],
      [`POST /events HTTP/1.1\r\n${head}Content-Length: 4\r\n\r\nnull`, '400'],
    ] as const) {
      connection.write(request);
      expected.push(status);
      await eventually(() => statuses().length === expected.length);
      expect(statuses()).to.deep.equal(expected);
    }
    expect(received).not.to.match(/^connection: close/im);
    connection.write(`POST /none HTTP/1.1\r\n${head}Content-Length: 400\r\n\r\nGET /version HTTP/1.1\r\n${head}\r\n`);
    await once(connection, 'close');
    expect(statuses()).to.deep.equal([...expected, '404']);
    expect(received).to.match(/^connection: close/im);
  });

  it('case 46: answers 404, 405 and the version', async () => {
    expect(await api.send('GET', '/nope')).to.deep.include({ status: 404, text: '404 page not found\n' });
    expect(await api.send('GET', '/events')).to.deep.include({ status: 405, text: '' });
    const version = await api.send('GET', '/version');
    expect(version.headers).to.include({ 'content-type': 'application/json' });
    expect(JSON.parse(version.text)).to.have.property('version').that.is.a('string');
  });

  it('shows its counters under both prefixes', async () => {
    const { headers, text } = await api.send('GET', '/metrics');
    expect(headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(text)
      .to.match(/^sensu_go_agent_new_connections 1$/m)
      .and.match(/^mon_agent_messages_sent \d+$/m);
  });

  it('refuses a body above 10 MiB with 413', async () => {
    expect((await api.send('POST', '/events', `{"x":"${'x'.repeat(10 * 1024 * 1024)}"}`)).status).to.equal(413);
    expect((await api.send('GET', '/healthz')).text).to.equal('ok');
  });

  const fromPages: [what: string, headers: Record<string, string>][] = [
    ['a page of another site', { Origin: 'http://example.com' }],
    ['a page without an origin', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a name that a stranger lets resolve to this machine', { Host: 'rebound.example.com:3031' }],
  ];
  for (const [what, headers] of fromPages) {
    it(`A14: refuses ${what}`, async () => {
      expect((await api.send('POST', '/events', JSON.stringify(EVENT), headers)).status).to.equal(403);
      expect((await api.send('GET', '/metrics', '', headers)).status).to.equal(403);
    });
  }

  it('case 45: sends 30 events that come at once at the configured rate', async () => {
    const before = backend.events.length;
    const statuses = await Promise.all(
      Array.from({ length: 30 }, (_, n) => api.post({ check: { metadata: { name: `burst-${n}` } } })),
    );
    expect(new Set(statuses.map(({ status }) => status))).to.deep.equal(new Set([202]));
    const beganMs = performance.now();
    await eventually(() => backend.events.length - before === 30, Boolean, { withinMs: 10_000 });
    expect(performance.now() - beganMs).to.be.within(1_000, 6_000);
  });
});

describe('the HTTP API of an agent on all addresses', () => {
  const backend = perSuite(() => FakeBackend.start());
  const agent = perSuite(
    () => InProcessAgent.start(backend.url, '--api-host', '0.0.0.0'),
    (started) => started.kill(),
  );

  it('answers programs that know this machine by another name, and refuses pages', async () => {
    await backend.ready();
    const api = await LocalApi.of(agent);
    const headers = { Host: 'web-1.example.com:3031' };
    expect((await api.send('POST', '/events', JSON.stringify(EVENT), headers)).status).to.equal(202);
    const fromPage = { ...headers, Origin: 'http://web-1.example.com:3031' };
    expect((await api.send('POST', '/events', JSON.stringify(EVENT), fromPage)).status).to.equal(403);
  });
});

describe('the HTTP API of an agent without a backend', () => {
  it('case 44: accepts events, which arrive once and in order after a restart', async function () {
    this.timeout(60_000);
    const backend = await FakeBackend.start();
    backend.options.refuseWith = 503;
    const directory = await temporaryDirectory();
    const flags = ['--retry-min=200ms', '--retry-max=400ms', `--cache-dir=${directory.path}`];
    const first = InProcessAgent.start(backend.url, ...flags);
    let second: InProcessAgent | undefined;
    try {
      const api = await LocalApi.of(first);
      const health = await api.send('GET', '/healthz');
      expect(health).to.deep.include({ status: 503, text: 'mon backend unavailable' });
      const names = Array.from({ length: 15 }, (_, n) => `kept-${n}`);
      for (const name of names) expect((await api.post({ check: { metadata: { name } } })).status).to.equal(202);
      await first.kill();
      backend.options.refuseWith = undefined;
      second = InProcessAgent.start(backend.url, ...flags);
      await eventually(() => backend.events.length >= names.length, Boolean, { withinMs: 15_000 });
      expect(backend.events.map(({ body }) => body.check.metadata.name)).to.deep.equal(names);
      const again = await LocalApi.of(second);
      expect(await again.send('GET', '/healthz')).to.deep.include({ status: 200, text: 'ok' });
    } finally {
      await first.kill();
      await second?.kill();
      await backend.stop();
      await directory.remove();
    }
  });
});
