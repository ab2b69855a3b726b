import { createSocket } from 'node:dgram';
import { getEventListeners, once, setMaxListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { ClosingSockets } from '../../../src/pipeline/handlers/closing-sockets.ts';
import { runSocketHandler } from '../../../src/pipeline/handlers/socket.ts';
import { handlerWithDefaults } from '../../../src/resources/handler.ts';
import { ByteSinks } from '../../support/byte-sinks.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { freePort } from '../../support/free-port.ts';

/** Named, so that it is looked up. */
const HOST = 'localhost';

const descriptors = (): number => readdirSync('/proc/self/fd').length;
const listenersOf = ({ signal }: AbortController): number => getEventListeners(signal, 'abort').length;

describe('a socket handler', () => {
  let clock: ManualClock;
  let end: AbortController;
  let sinks: ByteSinks;
  let closing: ClosingSockets;

  beforeEach(async () => {
    clock = new ManualClock();
    closing = new ClosingSockets(clock);
    end = new AbortController();
    setMaxListeners(0, end.signal);
    sinks = await ByteSinks.listen();
  });
  afterEach(() => {
    closing.close();
    return sinks.close();
  });

  const run = (type: 'tcp' | 'udp', port: number, { payload = '{}', timeout = 0, host = '127.0.0.1' } = {}) =>
    runSocketHandler(
      handlerWithDefaults({ type, socket: { host, port }, timeout }),
      { payload, signal: end.signal },
      clock,
      closing,
    );

  for (const type of ['tcp', 'udp'] as const) {
    it(`of type ${type} leaves no listener and no descriptor behind, sent or not`, async () => {
      const before = descriptors();
      const port = type === 'tcp' ? sinks.tcpPort : sinks.udpPort;
      for (let n = 0; n < 30; n += 1) {
        expect(await run(type, port, { payload: String(n) })).to.include({ outcome: 'handled' });
        expect(await run(type, 70_000)).to.include({ outcome: 'failed' });
        expect(listenersOf(end)).to.equal(0);
      }
      end.abort(new Error('the backend stops'));
      await eventually(() => (type === 'tcp' ? sinks.connections : sinks.datagrams).length === 30);
      await eventually(descriptors, (count) => count <= before, { what: 'all descriptors closed' });
    });

    it(`of type ${type} that is ended while it looks up its host fails once, and without an uncaught error`, async () => {
      const port = type === 'tcp' ? sinks.tcpPort : sinks.udpPort;
      const running = Array.from({ length: 20 }, () => run(type, port, { host: HOST }));
      end.abort(new Error('the backend stops'));
      for (const result of await Promise.all(running)) {
        expect(result).to.include({ outcome: 'failed', reason: 'the backend stops' });
      }
      expect(await run(type, port)).to.include({ outcome: 'failed', reason: 'the backend stops' });
      expect(listenersOf(end)).to.equal(0);
      await clock.settle();
    });
  }

  it('of type tcp that is refused leaves no listener behind', async () => {
    const result = await run('tcp', await freePort());
    expect(result.outcome).to.equal('failed');
    expect(result.reason).to.contain('ECONNREFUSED');
    expect(listenersOf(end)).to.equal(0);
  });

  it('of type udp reports why a datagram that is too large was not sent', async () => {
    const result = await run('udp', sinks.udpPort, { payload: 'x'.repeat(70_000) });
    expect(result.reason).to.contain('EMSGSIZE');
  });

  it('of type udp also supports IPv6', async () => {
    const receiver = createSocket('udp6');
    receiver.bind(0, '::1');
    await once(receiver, 'listening');
    const received = once(receiver, 'message');
    expect(await run('udp', receiver.address().port, { host: '::1' })).to.include({ outcome: 'handled' });
    expect(String((await received)[0])).to.equal('{}');
    receiver.close();
  });

  describe('whose receiver', () => {
    let server: Server;
    let sockets: Socket[];
    let port: number;

    beforeEach(async () => {
      sockets = [];
      server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => sockets.push(socket));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
    });
    afterEach(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    });

    it('never closes its side costs no time, and is cut two seconds after everything was sent', async () => {
      expect(await run('tcp', port)).to.include({ outcome: 'handled' });
      expect(listenersOf(end)).to.equal(0);
      const [socket] = await eventually(
        () => sockets,
        (all) => all.length > 0,
      );
      const received: string[] = [];
      socket?.on('data', (chunk: Buffer) => received.push(chunk.toString())).resume();
      await eventually(() => received.join('') === '{}');
      await clock.advance(1_999);
      expect(closing.count).to.equal(1);
      await clock.advance(1);
      await eventually(() => closing.count === 0);
    });

    it('never closes its side is cut earlier when 200 others wait, the oldest first', async () => {
      for (let n = 0; n < 210; n += 1) expect(await run('tcp', port)).to.include({ outcome: 'handled' });
      await eventually(() => closing.count === 200);
      await clock.advance(2_000);
      await eventually(() => closing.count === 0);
    });

    it('does not read is cut at the timeout', async () => {
      const running = run('tcp', port, { payload: 'x'.repeat(50_000_000), timeout: 3 });
      await eventually(() => sockets.length === 1);
      await clock.advance(3_000);
      expect(await running).to.include({ outcome: 'timed-out', reason: 'not sent within 3 seconds' });
    });

    it('resets the connection has not been sent everything', async () => {
      const running = run('tcp', port, { payload: 'x'.repeat(50_000_000) });
      const [socket] = await eventually(
        () => sockets,
        (all) => all.length > 0,
      );
      socket?.resetAndDestroy();
      expect(await running).to.include({ outcome: 'failed' });
      expect(listenersOf(end)).to.equal(0);
    });
  });
});
