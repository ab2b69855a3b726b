import { createSocket, type Socket } from 'node:dgram';
import { expect } from 'chai';
import { memoryOf } from '../../../bench/support/process-stats.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { freePort } from '../../support/free-port.ts';
import { AgentProcess } from '../agent-process.ts';
import { FakeBackend } from '../fake-backend.ts';
import { InProcessAgent, type RunningAgent } from '../in-process-agent.ts';

const NO_BACKEND = 'ws://127.0.0.1:1';
/** The agent may use as much more memory under attack: 20,000 series and their event, and garbage that is collected later. */
const MAX_GROWTH_MB = 128;

describe('an agent in hostile surroundings', function () {
  this.timeout(120_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let backend: FakeBackend | undefined;
  let agent: RunningAgent;
  let socket: Socket;
  let ports: { socket: number; statsd: number };

  beforeEach(async () => {
    socket = createSocket('udp4');
    ports = { socket: await freePort(), statsd: await freePort() };
  });
  afterEach(async () => {
    socket.close();
    await agent.kill();
    await backend?.stop();
    backend = undefined;
  });

  function flagsOf(): string[] {
    const inputs = ['--socket-port', String(ports.socket), '--statsd-metrics-port', String(ports.statsd)];
    return [...inputs, '--cache-dir', directory.path, '--retry-min', '100ms', '--retry-max', '200ms'];
  }
  function start(url: string, ...flags: string[]): void {
    agent = InProcessAgent.start(url, ...flagsOf(), ...flags);
  }
  /** A process, whose memory can be measured. */
  function startProcess(url: string, ...flags: string[]): number {
    const program = AgentProcess.start(url, ...flagsOf(), ...flags);
    agent = program;
    return program.child.pid ?? 0;
  }

  const listens = (): Promise<unknown> =>
    eventually(() => agent.log.some(({ msg }) => String(msg).startsWith('starting statsd server')), Boolean, {
      what: 'the listeners',
      withinMs: 20_000,
    });

  const send = (port: number, text: string | Buffer): Promise<void> =>
    new Promise((resolve) => socket.send(text, port, '127.0.0.1', () => resolve()));

  it('F27: keeps a bounded queue while it is offline, of the newest results, and sends each once and in order', async () => {
    const bound = 200;
    const sent = 600;
    start(NO_BACKEND, '--events-queue-max', String(bound));
    await listens();
    for (let n = 1; n <= sent; n += 1) {
      await send(ports.socket, JSON.stringify({ name: `check-${n}`, output: String(n), status: 0 }));
      if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await agent.stop()).to.equal(0);
    const online = await FakeBackend.start();
    backend = online;
    start(online.url, '--events-queue-max', String(bound));
    await eventually(() => online.events.length >= bound, Boolean, { what: 'the queue', withinMs: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const outputs = online.events.map(({ body }) => Number(body.check?.output));
    expect(outputs).to.deep.equal(Array.from({ length: bound }, (_, index) => sent - bound + 1 + index));
    expect(new Set(online.events.map(({ body }) => body.id)).size).to.equal(bound);
  });

  it('A14: continues after floods of its UDP ports, with bounded memory', async () => {
    const online = await FakeBackend.start();
    backend = online;
    const pid = startProcess(online.url, '--statsd-flush-interval', '1', '--log-level', 'info');
    await online.ready();
    await listens();
    const before = memoryOf(pid).residentMb;
    const garbage = Buffer.alloc(1_400, '{"name":');
    for (let n = 0; n < 40_000; n += 1) {
      const isOwnSeries = n % 2 === 0;
      void send(ports.statsd, isOwnSeries ? `series.${n}:1|c` : garbage);
      void send(ports.socket, garbage);
      if (n % 200 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await send(ports.socket, JSON.stringify({ name: 'after', output: 'the flood', status: 1 }));
    const again = setInterval(() => void send(ports.socket, '{"name":"after","output":"the flood","status":1}'), 500);
    try {
      const [event] = await online.eventsOf('after');
      expect(event?.body.check?.status).to.equal(1);
    } finally {
      clearInterval(again);
    }
    expect(memoryOf(pid).residentMb - before).to.be.below(MAX_GROWTH_MB);
  });

  it('A13: leaves a backend that sends a message above 10 MiB or without a type, and comes back', async () => {
    const online = await FakeBackend.start();
    backend = online;
    start(online.url);
    for (const message of [Buffer.alloc(11 * 1_048_576), Buffer.from('no line feed')]) {
      const session = await online.ready();
      session.socket.send(message);
      await eventually(() => session.closed, Boolean, { what: 'the end of the connection', withinMs: 10_000 });
    }
    await online.ready();
  });

  it('A13: continues after 30,000 meaningless messages of a backend, with bounded memory', async () => {
    const online = await FakeBackend.start();
    backend = online;
    const pid = startProcess(online.url, '--log-level', 'fatal');
    const session = await online.ready();
    const before = memoryOf(pid).residentMb;
    const messages = ['x\n', 'check_request\n{', 'check_request\n{}', 'entity_config\n[]', 'ack\n-1'];
    for (let n = 0; n < 30_000; n += 1) {
      session.socket.send(messages[n % messages.length] ?? '');
      if (n % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    online.requestCheck({ metadata: { name: 'after' }, command: 'true' }, 1);
    const result = () => online.events.find(({ body }) => body.check?.metadata.name === 'after');
    const event = await eventually(result, Boolean, { what: 'the result', withinMs: 60_000 });
    expect(event?.body.check?.status).to.equal(0);
    expect(online.sessions).to.have.lengthOf(1);
    expect(memoryOf(pid).residentMb - before).to.be.below(MAX_GROWTH_MB);
  });

  it('A19: writes one line of the log for each record, whatever a check, a backend or a client sends', async () => {
    const online = await FakeBackend.start();
    backend = online;
    start(online.url, '--log-level', 'debug');
    await online.ready();
    await listens();
    const hostile = '\r\n\u001b[31m{"level":"fatal","msg":"forged"}\u0000\u0085\u2028';
    online.send(`unknown${hostile.replaceAll('\n', '')}\n{}`);
    await send(ports.statsd, `_e{1,1}:${hostile.replaceAll('\n', '')}|x`);
    await send(ports.socket, JSON.stringify({ name: `bad${hostile}`, output: hostile, status: 1 }));
    const metadata = { name: 'loud', namespace: 'default' };
    const format = { output_metric_format: 'graphite_plaintext' };
    online.requestCheck({ metadata, command: `printf 'a\\r\\033[31mb\\n{"level":"fatal"}\\n'`, ...format }, 1);
    await online.eventsOf('loud');
    await eventually(() => agent.log.some(({ msg }) => msg === 'ignoring an event of statsd'), Boolean, {
      withinMs: 10_000,
    });
    expect(agent.log.map(({ level }) => level)).to.not.include('fatal');
    for (const line of agent.stderr.split('\n')) expect(line).to.match(/^[^\p{Cc}]*$/u);
  });
});
