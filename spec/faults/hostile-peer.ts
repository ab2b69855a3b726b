import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { agentHeaders, type AgentOptions } from '../support/agent-client.ts';
import { inTime } from '../support/eventually.ts';

const MASK = Buffer.from([1, 2, 3, 4]);
const MAX_SHORT = 125;

export interface FrameBits {
  /** 1 text, 2 binary, 0 continuation, 9 ping. */
  opcode: number;
  fin?: boolean;
  /** Set on compressed messages. */
  rsv1?: boolean;
}

/** A masked frame with at most 125 bytes. */
export function tinyFrame(payload: Buffer, { opcode, fin = true, rsv1 = false }: FrameBits): Buffer {
  if (payload.length > MAX_SHORT) throw new RangeError(`${payload.length} bytes are too many`);
  const masked = payload.map((byte, index) => byte ^ (MASK[index % MASK.length] ?? 0));
  const first = opcode | (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0);
  return Buffer.concat([Buffer.from([first, 0x80 | payload.length]), MASK, masked]);
}

/** The beginning of a binary message that claims so many bytes. */
export function frameHeader(bytes: number): Buffer {
  const header = Buffer.alloc(10);
  header.writeUInt16BE(0x82ff);
  header.writeBigUInt64BE(BigInt(bytes), 2);
  return Buffer.concat([header, MASK]);
}

/** Somebody at a port who keeps to no protocol: sends bytes as they are, and reads only when told to. */
export class HostilePeer {
  readonly #socket: Socket;
  /** All that was read, as latin1. */
  received = '';
  #isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    socket.on('close', () => (this.#isClosed = true));
    // A reset is an end like any other.
    socket.on('error', () => undefined);
  }

  /** One that is stubborn goes on when the other side has ended the connection. */
  static async connect(port: number, { isStubborn = false } = {}): Promise<HostilePeer> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: isStubborn });
    const peer = new HostilePeer(socket);
    await once(socket, 'connect');
    return peer;
  }

  /** With the upgrade of an agent behind it. */
  static async asAgent(port: number, options: AgentOptions & { isStubborn?: boolean }): Promise<HostilePeer> {
    const peer = await HostilePeer.connect(port, options);
    peer.write(upgradeRequest(agentHeaders(options)));
    await inTime(peer.#first(), 'the answer to the upgrade', 20_000);
    if (!peer.received.startsWith('HTTP/1.1 101')) throw new Error(`refused: ${peer.received}`);
    return peer;
  }

  async #first(): Promise<void> {
    while (!this.received.includes('\r\n\r\n')) await once(this.#socket, 'data');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Reads nothing from now on. */
  deafen(): void {
    this.#socket.pause();
  }

  /** False when it should wait: see `sendAll`. */
  write(bytes: Buffer | string): boolean {
    return this.#socket.writable && this.#socket.write(bytes);
  }

  /** `times` the same bytes, as fast as they are taken; until the peer closes. */
  async sendAll(bytes: Buffer, times: number): Promise<void> {
    const perWrite = 1_000;
    const block = Buffer.concat(Array.from({ length: perWrite }, () => bytes));
    for (let sent = 0; sent < times && this.#socket.writable && !this.#isClosed; sent += perWrite) {
      if (!this.#socket.write(block)) await this.#drained();
    }
  }

  /** Room for more, or the end; a peer that reads no more and does not close is waited for no longer than a few seconds. */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#socket.off('drain', done).off('close', done);
        resolve();
      };
      const timer = setTimeout(done, 5_000);
      this.#socket.on('drain', done).on('close', done);
    });
  }

  async closed(withinMs: number): Promise<void> {
    this.#socket.resume();
    if (!this.#isClosed) await inTime(once(this.#socket, 'close'), 'the end of the connection', withinMs);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

export function upgradeRequest(headers: Readonly<Record<string, string>>): string {
  const own = {
    Host: '127.0.0.1',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
  };
  const lines = Object.entries({ ...own, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `${['GET / HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n`;
}
