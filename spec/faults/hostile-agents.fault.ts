import { setTimeout as delay } from 'node:timers/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { deflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { percentile } from '../../bench/measured.ts';
import { agentHeaders, type AgentClient } from '../support/agent-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { checkEvent } from '../support/example-events.ts';
import { at } from '../support/json-path.ts';
import { frameHeader, HostilePeer, tinyFrame, upgradeRequest } from './hostile-peer.ts';
import { ObservedProcess } from './observed-process.ts';

const MB_PER_ATTACKER = 10;
/** Many at once, so that what the heap does by itself is a small part of what each may cost. */
const ATTACKERS = 8;
/** Who go on until they have sent all. */
const LASTING_ATTACKERS = 2;
/** A small young generation: a large one holds as much garbage as several attackers may cost. */
const HEAP_OPTIONS = { NODE_OPTIONS: '--max-semi-space-size=4' };
/** All that may be left of all attackers together: of the heap's own growth, which no single attack is blamed for. */
const LEFT_BEHIND_MB = 64;
const MILLION = 1_000_000;
const GIGABYTE = 2 ** 30;
/** From the close frame on, however much the peer still sends. */
const CLOSED_WITHIN_MS = 15_000;
const HANDSHAKE_LIMIT_MS = 15_000;
const LATE_MS = 2_000;
const NEIGHBOUR_LATE_MS = 250;
const BINARY = { opcode: 2 };

describe('A13: a peer of the agent port that does harm', function () {
  let backend: BackendProcess;
  let api: ApiClient;
  let neighbour: AgentClient;
  let observed: ObservedProcess;
  let peers: HostilePeer[] = [];
  let sent = 0;
  let memoryBeforeMb = 0;

  before(async () => {
    backend = await BackendProcess.start({ environment: HEAP_OPTIONS });
    api = await backend.login();
    observed = new ObservedProcess(backend.pid);
    neighbour = await backend.connect({ name: 'neighbour' });
    // The heap comes to its size before anything is measured.
    const warming = await HostilePeer.asAgent(backend.agentPort, { name: 'warming' });
    await warming.sendAll(tinyFrame(Buffer.from('x\n'), BINARY), MILLION);
    warming.destroy();
    await whileNeighbourWorks(delay(2_000));
    memoryBeforeMb = observed.ownMemoryMb;
  });

  after(() => backend.stop());

  afterEach(() => {
    for (const peer of peers) peer.destroy();
    peers = [];
  });

  const connected = async (): Promise<HostilePeer> => kept(await HostilePeer.connect(backend.agentPort));
  const asAgent = async (): Promise<HostilePeer> =>
    kept(await HostilePeer.asAgent(backend.agentPort, { name: `attacker-${peers.length}` }));

  function kept(peer: HostilePeer): HostilePeer {
    peers.push(peer);
    return peer;
  }

  /** How long 99 of 100 events of the neighbour took meanwhile, and by how much the backend grew at most. */
  async function whileNeighbourWorks(work: Promise<unknown>): Promise<{ p99Ms: number; grownMb: number }> {
    let isDone = false;
    void work.finally(() => (isDone = true));
    const beforeMb = observed.ownMemoryMb;
    const timesMs: number[] = [];
    let mostMb = 0;
    while (!isDone) {
      sent += 1;
      neighbour.send('event', checkEvent('neighbour', 'work', { output: String(sent) }));
      timesMs.push(await neighbour.ping(String(sent), 30_000));
      mostMb = Math.max(mostMb, observed.ownMemoryMb);
      await delay(10);
    }
    timesMs.sort((a, b) => a - b);
    return { p99Ms: percentile(timesMs, 0.99), grownMb: mostMb - beforeMb };
  }

  /** Each attacker does it, all at once. */
  async function survives(attack: () => Promise<void>, attackers = ATTACKERS): Promise<void> {
    // What this process has to wait for the machine and for its own attack is none of the backend's delay.
    const machine = monitorEventLoopDelay({ resolution: 1 });
    machine.enable();
    const attacks = Promise.all(Array.from({ length: attackers }, attack));
    const { p99Ms, grownMb } = await whileNeighbourWorks(attacks);
    machine.disable();
    await attacks;
    expect(grownMb / attackers, 'MB per attacker').to.be.at.most(MB_PER_ATTACKER);
    expect(p99Ms, 'ms').to.be.below(NEIGHBOUR_LATE_MS + machine.max / 1_000_000);
    expect(neighbour.isOpen).to.equal(true);
    const wanted = String(sent);
    const output = async () => at(await api.event('neighbour', 'work'), 'check', 'output');
    await eventually(output, (found) => found === wanted, { what: 'the last event of the neighbour' });
    const sessions = async () => ((await api.get('/api/mon/v1/sessions')).json as unknown[]).length;
    for (const peer of peers) peer.destroy();
    await eventually(sessions, (count) => count === 1, { what: 'the end of the attackers', withinMs: 10_000 });
  }

  it('has no credentials', () =>
    survives(async () => {
      for (let n = 0; n < 50; n += 1) {
        const peer = await connected();
        peer.write(upgradeRequest({ 'Sensu-AgentName': 'nobody', 'Sensu-Namespace': 'default' }));
        await peer.closed(CLOSED_WITHIN_MS);
        expect(peer.received).to.match(/^HTTP\/1\.1 401 /);
      }
    }));

  const foreign: [string, Buffer | string][] = [
    ['TLS', Buffer.from('16030100c8010000c403030000', 'hex')],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['frames without a handshake', tinyFrame(Buffer.from('event\n{}'), BINARY)],
    [
      'WebSocket of another version',
      upgradeRequest({ ...agentHeaders({ name: 'old' }), 'Sec-WebSocket-Version': '7' }),
    ],
  ];
  for (const [what, bytes] of foreign) {
    it(`speaks ${what}`, () =>
      survives(async () => {
        const peer = await connected();
        peer.write(bytes);
        await peer.closed(CLOSED_WITHIN_MS);
        expect(peer.received).to.match(/^HTTP\/1\.1 4\d\d /);
      }));
  }

  it(`sends ${MILLION} tiny messages without a type`, () =>
    survives(async () => {
      const peer = await asAgent();
      await peer.sendAll(tinyFrame(Buffer.from('x'), BINARY), MILLION);
      await peer.closed(CLOSED_WITHIN_MS);
    }));

  it(`sends ${MILLION} tiny fragments of one message`, () =>
    survives(async () => {
      const peer = await asAgent();
      peer.write(tinyFrame(Buffer.from('e'), { opcode: 2, fin: false }));
      await peer.sendAll(tinyFrame(Buffer.from('v'), { opcode: 0, fin: false }), MILLION);
      await peer.closed(CLOSED_WITHIN_MS);
    }));

  it(`sends ${MILLION} messages of no known type: each is refused, and it may go on`, () =>
    survives(async () => {
      const peer = await asAgent();
      await peer.sendAll(tinyFrame(Buffer.from('x\n'), BINARY), MILLION);
      expect(peer.isClosed).to.equal(false);
    }, LASTING_ATTACKERS));

  it(`sends ${MILLION} pings and reads no pong`, () =>
    survives(async () => {
      const peer = await asAgent();
      peer.deafen();
      await peer.sendAll(tinyFrame(Buffer.alloc(125), { opcode: 9 }), MILLION);
    }, LASTING_ATTACKERS));

  it('sends a message of a gigabyte, as far as it gets', () =>
    survives(async () => {
      const peer = await asAgent();
      peer.write(frameHeader(GIGABYTE));
      await peer.sendAll(Buffer.alloc(1_000), Math.ceil(GIGABYTE / 1_000));
      await peer.closed(CLOSED_WITHIN_MS);
    }));

  it('sends a compressed message although no compression was agreed on', () =>
    survives(async () => {
      const peer = await connected();
      const headers = { ...agentHeaders({ name: 'bomb' }), 'Sec-WebSocket-Extensions': 'permessage-deflate' };
      peer.write(upgradeRequest(headers));
      await eventually(() => peer.received.includes('\r\n\r\n'), Boolean, { what: 'the answer', withinMs: 20_000 });
      expect(peer.received).to.match(/^HTTP\/1\.1 101 /);
      expect(peer.received.toLowerCase()).to.not.include('sec-websocket-extensions');
      const bomb = deflateRawSync(Buffer.alloc(100_000_000)).subarray(0, 125);
      peer.write(tinyFrame(bomb, { opcode: 2, rsv1: true }));
      await peer.closed(CLOSED_WITHIN_MS);
    }));

  for (const [what, first] of [
    ['nothing', ''],
    ['the headers of its handshake a byte at a time', 'GET / HTTP/1.1\r\nX: '],
  ] as const) {
    it(`sends ${what}, and is cut after 15 s`, () =>
      survives(async () => {
        const peer = await connected();
        const openedMs = performance.now();
        if (first !== '') peer.write(first);
        while (!peer.isClosed && performance.now() - openedMs < 2 * HANDSHAKE_LIMIT_MS) {
          if (first !== '') peer.write('x');
          await delay(100);
        }
        expect(peer.isClosed).to.equal(true);
        expect(performance.now() - openedMs).to.be.within(HANDSHAKE_LIMIT_MS - 100, HANDSHAKE_LIMIT_MS + LATE_MS);
      }, 50));
  }

  it(`leaves at most ${LEFT_BEHIND_MB} MB behind, all of them together`, () => {
    expect(observed.ownMemoryMb - memoryBeforeMb, 'MB').to.be.at.most(LEFT_BEHIND_MB);
  });
});
