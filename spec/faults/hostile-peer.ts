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

/** Returns a masked frame. @throws RangeError if the payload exceeds 125 bytes */
export function tinyFrame(payload: Buffer, { opcode, fin = true, rsv1 = false }: FrameBits): Buffer {
  if (payload.length > MAX_SHORT) throw new RangeError(`${payload.length} bytes are too many`);
  const masked = payload.map((byte, index) => byte ^ (MASK[index % MASK.length] ?? 0));
  const first = opcode | (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0);
  return Buffer.concat([Buffer.from([first, 0x80 | payload.length]), MASK, masked]);
}

/** Returns the header of a binary message that claims `bytes` bytes. */
export function frameHeader(bytes: number): Buffer {
  const header = Buffer.alloc(10);
  header.writeUInt16BE(0x82ff);
  header.writeBigUInt64BE(BigInt(bytes), 2);
  return Buffer.concat([header, MASK]);
}

/** A client that follows no protocol: it sends arbitrary bytes and can stop reading. */
export class HostilePeer {
  readonly #socket: Socket;
  /** Everything that was read, as latin1. */
  received = '';
  #isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    socket.on('close', () => (this.#isClosed = true));
    // A reset ends the connection like any other close.
    socket.on('error', () => undefined);
  }

  /** Connects. With `isStubborn` it goes on sending after the other side has ended the connection. */
  static async connect(port: number, { isStubborn = false } = {}): Promise<HostilePeer> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: isStubborn });
    const peer = new HostilePeer(socket);
    await once(socket, 'connect');
    return peer;
  }

  /** Connects and completes the handshake of an agent. */
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
  stopReading(): void {
    this.#socket.pause();
  }

  /** Returns false if the socket cannot take more at present; see `sendAll`. */
  write(bytes: Buffer | string): boolean {
    return this.#socket.writable && this.#socket.write(bytes);
  }

  /** Sends the same bytes `times` times, as fast as the socket takes them, until the peer closes. */
  async sendAll(bytes: Buffer, times: number): Promise<void> {
    const perWrite = 1_000;
    const block = Buffer.concat(Array.from({ length: perWrite }, () => bytes));
    for (let sent = 0; sent < times && this.#socket.writable && !this.#isClosed; sent += perWrite) {
      if (!this.#socket.write(block)) await this.#drained();
    }
  }

  /** Waits until the socket takes more or closes, for at most 5 s if the other side neither reads nor closes. */
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
