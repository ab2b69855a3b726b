import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';

/** One message on its way to the backend. */
interface IncomingMessage {
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

/** A WebSocket without a network, with the members that a session uses. Only a paused reader delays messages. */
export class SimulatedSocket extends EventEmitter {
  readonly OPEN = OPEN;
  readyState = OPEN;
  readonly #peer: Peer;
  #incoming: IncomingMessage[] = [];
  #paused = false;

  constructor(peer: Peer) {
    super();
    this.#peer = peer;
  }

  /** Returns the socket as the type that the backend expects. */
  asWebSocket(): WebSocket {
    return this as unknown as WebSocket;
  }

  /** Delivers a message of the agent. */
  arrive(message: IncomingMessage): void {
    if (this.readyState !== OPEN) return;
    this.#incoming.push(message);
    if (!this.#paused) this.#read();
  }

  /** Closes the connection from the agent's side. */
  leave(code: number): void {
    if (this.readyState !== OPEN) return;
    this.readyState = CLOSED;
    this.#incoming = [];
    this.emit('close', code);
  }

  /** Removes all listeners: the backend's process is gone. */
  break(): void {
    this.readyState = CLOSED;
    this.removeAllListeners();
    this.#incoming = [];
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

  /** Ignores the pong: the simulated agents have no liveness check. */
  pong(_body: Buffer, _mask: boolean, sent: () => void): void {
    queueMicrotask(sent);
  }

  pause(): void {
    this.#paused = true;
  }

  /** Resumes reading in a later tick of the event loop, as a real socket does. */
  resume(): void {
    this.#paused = false;
    setImmediate(() => {
      this.#read();
    });
  }

  /** Closes the connection from the backend's side. Unread messages are lost. */
  close(code: number): void {
    if (this.readyState !== OPEN) return;
    this.readyState = CLOSED;
    this.#incoming = [];
    this.#peer.closed(code);
    setImmediate(() => this.emit('close', code));
  }

  terminate(): void {
    this.close(1006);
  }

  #read(): void {
    while (!this.#paused && this.readyState === OPEN) {
      const message = this.#incoming.shift();
      if (message === undefined) return;
      message.read();
      this.emit('message', message.bytes);
    }
  }
}
