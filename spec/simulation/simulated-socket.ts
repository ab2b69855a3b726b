import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';

/** One message on its way to the backend. */
interface Arriving {
  bytes: Buffer;
  /** Called when the backend is about to read it. */
  read(): void;
}

/** The agent's end of the connection. */
export interface Peer {
  received(frame: Buffer): void;
  closed(code: number): void;
}

const OPEN = 1;
const CLOSED = 3;

/** A WebSocket without a network: what a session needs of one. Nothing is delayed but by a reader that pauses. */
export class SimulatedSocket extends EventEmitter {
  readonly OPEN = OPEN;
  readyState = OPEN;
  readonly #peer: Peer;
  #arriving: Arriving[] = [];
  #paused = false;

  constructor(peer: Peer) {
    super();
    this.#peer = peer;
  }

  /** As the backend sees it. */
  asWebSocket(): WebSocket {
    return this as unknown as WebSocket;
  }

  /** The agent sends. */
  arrive(message: Arriving): void {
    if (this.readyState !== OPEN) return;
    this.#arriving.push(message);
    if (!this.#paused) this.#read();
  }

  /** The agent closes, or its machine is gone. */
  leave(code: number): void {
    if (this.readyState !== OPEN) return;
    this.readyState = CLOSED;
    this.#arriving = [];
    this.emit('close', code);
  }

  /** The backend's process is gone: nobody is left to hear of anything. */
  break(): void {
    this.readyState = CLOSED;
    this.removeAllListeners();
    this.#arriving = [];
  }

  send(frame: Buffer, _options: object, sent: (error?: Error) => void): void {
    if (this.readyState === OPEN) this.#peer.received(frame);
    queueMicrotask(() => {
      sent();
    });
  }

  ping(): void {
    setImmediate(() => this.readyState === OPEN && this.emit('pong'));
  }

  /** What an agent does with a pong is no concern of the backend. */
  pong(_body: Buffer, _mask: boolean, sent: () => void): void {
    queueMicrotask(sent);
  }

  pause(): void {
    this.#paused = true;
  }

  /** What waited is read in a later turn, as with a real one. */
  resume(): void {
    this.#paused = false;
    setImmediate(() => {
      this.#read();
    });
  }

  /** What the agent has sent and was not read is lost. */
  close(code: number): void {
    if (this.readyState !== OPEN) return;
    this.readyState = CLOSED;
    this.#arriving = [];
    this.#peer.closed(code);
    setImmediate(() => this.emit('close', code));
  }

  terminate(): void {
    this.close(1006);
  }

  #read(): void {
    while (!this.#paused && this.readyState === OPEN) {
      const message = this.#arriving.shift();
      if (message === undefined) return;
      message.read();
      this.emit('message', message.bytes);
    }
  }
}
