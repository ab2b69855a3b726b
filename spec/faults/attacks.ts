import { setTimeout as delay } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { agentHeaders } from '../support/agent-client.ts';
import { eventually } from '../support/eventually.ts';
import { frameHeader, type HostilePeer, tinyFrame, upgradeRequest } from './hostile-peer.ts';

const MILLION = 1_000_000;
const GIGABYTE = 2 ** 30;
/** From the close frame on, however much the peer still sends. */
const CLOSED_WITHIN_MS = 15_000;
const HANDSHAKE_LIMIT_MS = 15_000;
const LATE_MS = 2_000;
const BINARY = { opcode: 2 };
const BOMB = deflateRawSync(Buffer.alloc(100_000_000)).subarray(0, 125);

/** A new peer of the port under attack, or one that is an agent already; both are kept until all attackers are called off. */
export interface Peers {
  connected(): Promise<HostilePeer>;
  asAgent(options?: { isStubborn: boolean }): Promise<HostilePeer>;
}

/** What one attacker does, and what must become of it. */
type Act = (peers: Peers) => Promise<void>;

export interface Attack {
  act: Act;
  /** How many do it at once, each time that it is done. */
  attackers: readonly number[];
}

/** Many at once, so that what the heap does by itself is a small part of what each may cost. */
const many = (act: Act): Attack => ({ act, attackers: [8] });
/** Those who go on until they have sent all are few, and then many. */
const lasting = (act: Act): Attack => ({ act, attackers: [2, 8] });
/** Those who do next to nothing are a crowd. */
const crowd = (act: Act): Attack => ({ act, attackers: [50] });

const speaks = (bytes: Buffer | string): Attack =>
  many(async ({ connected }) => {
    const peer = await connected();
    peer.write(bytes);
    await peer.closed(CLOSED_WITHIN_MS);
    expect(peer.received).to.match(/^HTTP\/1\.1 4\d\d /);
  });

/** A byte at a time from `first` on, which may be nothing. */
const isSlow = (first: string): Attack =>
  crowd(async ({ connected }) => {
    const peer = await connected();
    const openedMs = performance.now();
    if (first !== '') peer.write(first);
    while (!peer.isClosed && performance.now() - openedMs < 2 * HANDSHAKE_LIMIT_MS) {
      if (first !== '') peer.write('x');
      await delay(100);
    }
    expect(peer.isClosed).to.equal(true);
    expect(performance.now() - openedMs).to.be.within(HANDSHAKE_LIMIT_MS - 100, HANDSHAKE_LIMIT_MS + LATE_MS);
  });

async function sendGigabyte(peer: HostilePeer): Promise<void> {
  peer.write(frameHeader(GIGABYTE));
  await peer.sendAll(Buffer.alloc(1_000), Math.ceil(GIGABYTE / 1_000));
  await peer.closed(CLOSED_WITHIN_MS);
}

/** What the heap comes to its size by. */
export const REFUSED_MILLION = `sends ${MILLION} messages of no known type: each is refused, and it may go on`;

/** By what the attacker does. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  'has no credentials': many(async ({ connected }) => {
    for (let n = 0; n < 50; n += 1) {
      const peer = await connected();
      peer.write(upgradeRequest({ 'Sensu-AgentName': 'nobody', 'Sensu-Namespace': 'default' }));
      await peer.closed(CLOSED_WITHIN_MS);
      expect(peer.received).to.match(/^HTTP\/1\.1 401 /);
    }
  }),

  'speaks TLS': speaks(Buffer.from('16030100c8010000c403030000', 'hex')),
  'speaks HTTP/2': speaks('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  'speaks SSH': speaks('SSH-2.0-OpenSSH_9.2\r\n'),
  'speaks frames without a handshake': speaks(tinyFrame(Buffer.from('event\n{}'), BINARY)),
  'speaks WebSocket of another version': speaks(
    upgradeRequest({ ...agentHeaders({ name: 'old' }), 'Sec-WebSocket-Version': '7' }),
  ),

  [`sends ${MILLION} tiny messages without a type`]: many(async ({ asAgent }) => {
    const peer = await asAgent();
    await peer.sendAll(tinyFrame(Buffer.from('x'), BINARY), MILLION);
    await peer.closed(CLOSED_WITHIN_MS);
  }),

  [`sends ${MILLION} tiny fragments of one message`]: many(async ({ asAgent }) => {
    const peer = await asAgent();
    peer.write(tinyFrame(Buffer.from('e'), { opcode: 2, fin: false }));
    await peer.sendAll(tinyFrame(Buffer.from('v'), { opcode: 0, fin: false }), MILLION);
    await peer.closed(CLOSED_WITHIN_MS);
  }),

  [REFUSED_MILLION]: lasting(async ({ asAgent }) => {
    const peer = await asAgent();
    await peer.sendAll(tinyFrame(Buffer.from('x\n'), BINARY), MILLION);
    expect(peer.isClosed).to.equal(false);
  }),

  [`sends ${MILLION} pings and reads no pong`]: lasting(async ({ asAgent }) => {
    const peer = await asAgent();
    peer.deafen();
    await peer.sendAll(tinyFrame(Buffer.alloc(125), { opcode: 9 }), MILLION);
    expect(peer.isClosed).to.equal(false);
  }),

  'sends a message of a gigabyte, as far as it gets': many(async ({ asAgent }) => {
    const peer = await asAgent();
    await sendGigabyte(peer);
  }),

  'sends a message of a gigabyte, and goes on when its connection was ended': many(async ({ asAgent }) => {
    const peer = await asAgent({ isStubborn: true });
    await sendGigabyte(peer);
  }),

  'sends a compressed message although no compression was agreed on': many(async ({ connected }) => {
    const peer = await connected();
    const headers = { ...agentHeaders({ name: 'bomb' }), 'Sec-WebSocket-Extensions': 'permessage-deflate' };
    peer.write(upgradeRequest(headers));
    await eventually(() => peer.received.includes('\r\n\r\n'), Boolean, { what: 'the answer', withinMs: 20_000 });
    expect(peer.received).to.match(/^HTTP\/1\.1 101 /);
    expect(peer.received.toLowerCase()).to.not.include('sec-websocket-extensions');
    peer.write(tinyFrame(BOMB, { opcode: 2, rsv1: true }));
    await peer.closed(CLOSED_WITHIN_MS);
  }),

  'sends nothing, and is cut after 15 s': isSlow(''),
  'sends the headers of its handshake a byte at a time, and is cut after 15 s': isSlow('GET / HTTP/1.1\r\nX: '),
};
