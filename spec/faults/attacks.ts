import { setTimeout as delay } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { agentHeaders } from '../support/agent-client.ts';
import { eventually } from '../support/eventually.ts';
import { frameHeader, type HostilePeer, tinyFrame, upgradeRequest } from './hostile-peer.ts';

const MILLION = 1_000_000;
const GIGABYTE = 2 ** 30;
/** Time limit from the close frame to the end of the connection, even if the peer goes on sending. */
const CLOSED_WITHIN_MS = 15_000;
const HANDSHAKE_LIMIT_MS = 15_000;
const LATE_MS = 2_000;
const BINARY = { opcode: 2 };
const BOMB = deflateRawSync(Buffer.alloc(100_000_000)).subarray(0, 125);

/** Opens connections to the port under attack, plain or with a completed agent handshake. They stay open until the attack ends. */
export interface Peers {
  connected(): Promise<HostilePeer>;
  asAgent(options?: { isStubborn: boolean }): Promise<HostilePeer>;
}

/** The actions of one attacker, with the expectations on how the backend treats it. */
type Act = (peers: Peers) => Promise<void>;

export interface Attack {
  act: Act;
  /** Numbers of simultaneous attackers; the attack is repeated for each number. */
  attackers: readonly number[];
}

/** Enough attackers that the noise of the heap is small compared with the memory limit of each. */
const many = (act: Act): Attack => ({ act, attackers: [8] });
/** For attackers that send everything before they end: few, then many. */
const lasting = (act: Act): Attack => ({ act, attackers: [2, 8] });
/** For attackers that do very little. */
const idle = (act: Act): Attack => ({ act, attackers: [50] });

/** Sends these bytes as the first bytes of the connection. */
const speaks = (bytes: Buffer | string): Attack =>
  many(async ({ connected }) => {
    const peer = await connected();
    peer.write(bytes);
    await peer.closed(CLOSED_WITHIN_MS);
    expect(peer.received).to.match(/^HTTP\/1\.1 4\d\d /);
  });

/** Sends `first` and then one byte every 100 ms; an empty `first` sends nothing at all. */
const isSlow = (first: string): Attack =>
  idle(async ({ connected }) => {
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

/** Also serves as the warm-up of the heap before the first measurement. */
export const REJECTED_MESSAGES = `sends ${MILLION} messages of an unknown type, each of which is rejected`;

/** Attacks by what the attacker does. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  'has no credentials': many(async ({ connected }) => {
    for (let n = 0; n < 50; n += 1) {
      const peer = await connected();
      peer.write(upgradeRequest({ 'Sensu-AgentName': 'anonymous', 'Sensu-Namespace': 'default' }));
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

  [REJECTED_MESSAGES]: lasting(async ({ asAgent }) => {
    const peer = await asAgent();
    await peer.sendAll(tinyFrame(Buffer.from('x\n'), BINARY), MILLION);
    expect(peer.isClosed).to.equal(false);
  }),

  [`sends ${MILLION} pings and reads no pongs`]: lasting(async ({ asAgent }) => {
    const peer = await asAgent();
    peer.stopReading();
    await peer.sendAll(tinyFrame(Buffer.alloc(125), { opcode: 9 }), MILLION);
    expect(peer.isClosed).to.equal(false);
  }),

  'sends a message of a gigabyte until it is disconnected': many(async ({ asAgent }) => {
    const peer = await asAgent();
    await sendGigabyte(peer);
  }),

  'sends a message of a gigabyte and goes on after the backend has ended the connection': many(async ({ asAgent }) => {
    const peer = await asAgent({ isStubborn: true });
    await sendGigabyte(peer);
  }),

  'sends a compressed message without negotiated compression': many(async ({ connected }) => {
    const peer = await connected();
    const headers = { ...agentHeaders({ name: 'bomb' }), 'Sec-WebSocket-Extensions': 'permessage-deflate' };
    peer.write(upgradeRequest(headers));
    await eventually(() => peer.received.includes('\r\n\r\n'), Boolean, { what: 'the answer', withinMs: 20_000 });
    expect(peer.received).to.match(/^HTTP\/1\.1 101 /);
    expect(peer.received.toLowerCase()).to.not.include('sec-websocket-extensions');
    peer.write(tinyFrame(BOMB, { opcode: 2, rsv1: true }));
    await peer.closed(CLOSED_WITHIN_MS);
  }),

  'sends nothing and is disconnected after 15 s': isSlow(''),
  'sends its handshake one byte at a time and is disconnected after 15 s': isSlow('GET / HTTP/1.1\r\nX: '),
};
