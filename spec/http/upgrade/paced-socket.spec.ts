import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { PacedSocket } from '../../../src/http/upgrade/paced-socket.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const MESSAGE = 'x'.repeat(64 * 1024);
/** More messages than the queue and the socket buffers hold. */
const TOO_MANY = 1_000;
const HEARTBEAT_MS = 30_000;

describe('messages to a WebSocket', () => {
  let clock: ManualClock;
  let server: WebSocketServer;
  let peer: WebSocket;
  let socket: PacedSocket;
  let received: number;
  let close: { code: number; reason: string } | undefined;
  let isAllowed: boolean;

  beforeEach(async () => {
    clock = new ManualClock();
    isAllowed = true;
    received = 0;
    close = undefined;
    server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
    await once(server, 'listening');
    const connected = once(server, 'connection') as Promise<[WebSocket]>;
    peer = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { perMessageDeflate: false });
    peer.on('message', () => (received += 1));
    peer.on('close', (code, reason) => (close = { code, reason: reason.toString() }));
    await once(peer, 'open');
    const [accepted] = await connected;
    socket = new PacedSocket(accepted, { clock, isAllowed: () => isAllowed });
  });

  afterEach(() => {
    for (const client of server.clients) client.terminate();
    peer.terminate();
    server.close();
  });

  it('are all delivered to a peer that reads', async () => {
    for (let n = 0; n < TOO_MANY; n += 1) {
      socket.send(MESSAGE);
      if (n % 50 === 0) await socket.drained();
    }
    await eventually(() => received === TOO_MANY);
    expect(close).to.equal(undefined);
  });

  it('are bounded for a peer that does not read, which is closed with 1013', async () => {
    peer.pause();
    for (let n = 0; n < TOO_MANY; n += 1) socket.send(MESSAGE);
    await socket.drained();
    peer.resume();
    await eventually(() => close !== undefined);
    expect(close).to.deep.equal({ code: 1013, reason: 'messages are not read fast enough' });
    expect(received).to.be.below(TOO_MANY);
  });

  it('end for their sender before a peer that does not read has received the close frame', async () => {
    let ends = 0;
    const ended = (): number => (ends += 1);
    socket.onEnd(ended);
    peer.pause();
    for (let n = 0; n < TOO_MANY; n += 1) socket.send(MESSAGE);
    expect([ends, close]).to.deep.equal([1, undefined]);
    peer.resume();
    await eventually(() => close !== undefined);
    expect(ends).to.equal(1);
    socket.onEnd(ended);
    expect(ends).to.equal(2);
  });

  it('end with the termination of the socket when the peer does not answer the close frame', async () => {
    peer.pause();
    for (let n = 0; n < TOO_MANY; n += 1) socket.send(MESSAGE);
    await clock.advance(10_000);
    peer.resume();
    await eventually(() => close !== undefined);
    expect(close?.code).to.equal(1006);
  });

  it('continue for a peer that answers pings', async () => {
    for (let n = 0; n < 3; n += 1) {
      const pinged = once(peer, 'ping');
      await clock.advance(HEARTBEAT_MS);
      await pinged;
      await clock.settle();
    }
    socket.send(MESSAGE);
    await eventually(() => received === 1);
  });

  it('end for a peer that does not answer a ping', async () => {
    peer.pause();
    await clock.advance(2 * HEARTBEAT_MS);
    peer.resume();
    await eventually(() => close !== undefined);
    expect(close?.code).to.equal(1006);
  });

  it('end within a second when the user may no longer inspect', async () => {
    await clock.advance(5_500);
    isAllowed = false;
    await clock.advance(1_000);
    await eventually(() => close !== undefined);
    expect(close).to.deep.equal({ code: 1008, reason: 'no longer allowed' });
  });
});
