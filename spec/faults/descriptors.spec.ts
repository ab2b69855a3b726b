import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { AgentClient, HandshakeRefused } from '../support/agent-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { at } from '../support/json-path.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const DESCRIPTORS = 256;
const IDLE = 400;
/** Fewer than are open. */
const NO_MORE = 16;
const REFUSED = /^HTTP\/1\.1 503 Service Unavailable\r\n(?:.+\r\n)*Connection: close\r\n/i;

describe(`a backend with ${DESCRIPTORS} descriptors`, function () {
  this.timeout(60_000);
  const backend = perTest(() => BackendProcess.start({ descriptors: DESCRIPTORS }));
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let api: ApiClient;
  let sockets: Socket[];

  beforeEach(async () => {
    sockets = [];
    api = await backend.login();
    const handler = { metadata: { name: 'note', namespace: 'default' }, type: 'pipe', command: NOTE };
    const { status, text } = await api.put('/ns/default/handlers/note', {
      ...handler,
      env_vars: [`RUNS=${directory.path}/runs`],
    });
    expect(status, text).to.equal(201);
  });

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
  });

  /** Opens a connection, and collects what it receives. */
  async function open(port: number): Promise<{ socket: Socket; received: () => string }> {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => socket.destroy());
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    return { socket, received: () => text };
  }

  const openMany = (port: number, count: number) => Promise.all(Array.from({ length: count }, () => open(port)));

  async function put(check: string, output = ''): Promise<void> {
    const event = proxyEvent('sw-1', check, { status: 1, handlers: ['note'], output });
    const { status, text } = await api.put(`/ns/default/events/sw-1/${check}`, event);
    expect(status, text).to.equal(200);
  }

  const runs = (): string[] =>
    existsSync(`${directory.path}/runs`) ? readFileSync(`${directory.path}/runs`, 'utf8').trim().split('\n') : [];

  const notificationsOf = async (check: string): Promise<unknown[]> =>
    (await api.get(`/api/mon/v1/namespaces/default/events/sw-1/${check}/notifications`)).json as unknown[];

  const linesOf = (msg: string): unknown[] => backend.logs.filter((line) => at(line, 'msg') === msg);

  /** Waits, and uses the connection to the API meanwhile: it is closed when idle, and without descriptors there is no other. */
  const connectedUntil = <T>(read: () => T, isDone: (value: T) => boolean, what: string): Promise<T> =>
    eventually(
      async () => {
        await notificationsOf('disk');
        return read();
      },
      isDone,
      { what, withinMs: 20_000 },
    );

  const openDescriptors = (): number => readdirSync(`/proc/${backend.pid}/fd`).length;

  it(`runs handlers and writes to its store beside ${IDLE} idle connections to the API and ${IDLE} to the agent port`, async () => {
    await Promise.all([openMany(backend.apiPort, IDLE), openMany(backend.agentPort, IDLE)]);
    await eventually(openDescriptors, (count) => count > DESCRIPTORS / 4, { what: 'open connections' });
    for (let n = 0; n < 20; n += 1) await put(`check-${n}`, String(n));
    await eventually(runs, (lines) => lines.length === 20, { what: 'the handlers', withinMs: 20_000 });
    for (let n = 0; n < 20; n += 1) {
      const [notification] = await eventually(
        () => notificationsOf(`check-${n}`),
        (found) => found.length > 0,
      );
      expect(notification).to.include({ outcome: 'handled', status: 0 });
    }
    expect(openDescriptors()).to.be.below(DESCRIPTORS - 32);
    expect(linesOf('could not start a handler, its events stay in the outbox')).to.deep.equal([]);
  });

  it('answers requests above the bound of API connections with a complete 503, logs that once, and accepts them later', async () => {
    const idle = await openMany(backend.apiPort, 40);
    await delay(100);
    const { socket, received } = await open(backend.apiPort);
    const body = JSON.stringify({ metadata: { name: 'x'.repeat(100_000) } });
    socket.write(
      `PUT /api/core/v2/namespaces/default/checks/x HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
    await once(socket, 'end');
    expect(received()).to.match(REFUSED);
    const [, answer = ''] = received().split('\r\n\r\n');
    expect(JSON.parse(answer)).to.deep.equal({
      message: 'too many connections: the API accepts 32 at a time (--api-max-connections)',
      code: 0,
    });
    await openMany(backend.apiPort, 3);
    const lines = linesOf('too many connections, further ones are refused');
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ port: 'api', limit: 32 });
    for (const one of idle) one.socket.destroy();
    const later = await eventually(
      async () => {
        const { socket: next, received: text } = await open(backend.apiPort);
        next.end('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
        await once(next, 'close');
        return text();
      },
      (text) => text.startsWith('HTTP/1.1 200'),
      { what: 'an answer' },
    );
    expect(later).to.match(/^HTTP\/1\.1 200/);
  });

  it('refuses agents above the bound of the agent port with 503, and accepts them later', async () => {
    const idle = await openMany(backend.agentPort, 96);
    const limit = { what: 'a full agent port' };
    const refusal = await eventually(
      () => backend.connect({ name: 'late' }).catch((error: unknown) => error),
      (outcome) => outcome instanceof HandshakeRefused,
      limit,
    );
    expect(refusal).to.include({ status: 503, body: 'too many agents at once\n' });
    for (const one of idle) one.socket.destroy();
    await eventually(
      () => backend.connect({ name: 'late' }).catch((error: unknown) => error),
      (outcome) => outcome instanceof AgentClient,
    );
  });

  it('accepts agents that reconnect at once, before the ends of their former connections are recorded', async () => {
    const names = Array.from({ length: 95 }, (_, index) => `agent-${index}`);
    const connectAll = () => Promise.all(names.map((name) => backend.connect({ name })));
    let agents = await connectAll();
    for (let round = 0; round < 3; round += 1) {
      // The backend receives the disconnects and the new connections at the same time.
      process.kill(backend.pid, 'SIGSTOP');
      for (const agent of agents) agent.terminate();
      const reconnected = connectAll();
      await delay(500);
      process.kill(backend.pid, 'SIGCONT');
      agents = await reconnected;
      for (const agent of agents) expect(agent.isOpen).to.equal(true);
    }
  });

  it('keeps notifications of socket handlers, and sends them when it can', async () => {
    const received: string[] = [];
    const sink = createServer((socket) => socket.on('data', (chunk: Buffer) => received.push(chunk.toString())));
    await once(sink.listen(0, '127.0.0.1'), 'listening');
    const { port } = sink.address() as AddressInfo;
    const handler = { metadata: { name: 'note', namespace: 'default' }, type: 'tcp', mutator: 'only_check_output' };
    await api.put('/ns/default/handlers/note', { ...handler, socket: { host: '127.0.0.1', port } });
    setDescriptors(NO_MORE);
    await put('disk', 'full');
    await connectedUntil(
      () => linesOf('could not start a handler, its events stay in the outbox'),
      (lines) => lines.length > 0,
      'a handler that could not be started',
    );
    setDescriptors(DESCRIPTORS);
    await connectedUntil(
      () => received,
      (events) => events.length > 0,
      'the event',
    );
    expect(received).to.deep.equal(['full']);
    sink.close();
  });

  it('keeps notifications whose handlers cannot be started, and runs them in order when they can', async () => {
    await put('first', 'first');
    await connectedUntil(runs, (lines) => lines.length === 1, 'the first run');
    setDescriptors(NO_MORE);
    for (let n = 0; n < 5; n += 1) await put('disk', String(n));
    await connectedUntil(
      () => linesOf('could not start a handler, its events stay in the outbox'),
      (lines) => lines.length > 1,
      'handlers that could not be started',
    );
    expect(await notificationsOf('disk')).to.deep.equal([]);
    setDescriptors(DESCRIPTORS);
    await connectedUntil(runs, (lines) => lines.length === 6, 'the handlers');
    expect(runs().slice(1)).to.deep.equal(['0', '1', '2', '3', '4']);
    const outcomes = await eventually(
      () => notificationsOf('disk'),
      (found) => found.length === 5,
    );
    expect(new Set(outcomes.map((one) => at(one, 'outcome')))).to.deep.equal(new Set(['handled']));
  });

  function setDescriptors(count: number): void {
    execFileSync('prlimit', [`--pid=${backend.pid}`, `--nofile=${count}:${DESCRIPTORS}`]);
  }
});

/** Appends the output of the event to a file. */
const NOTE = `read -r event; output=\${event##*'"output":"'}; echo "\${output%%'"'*}" >> "$RUNS"`;
