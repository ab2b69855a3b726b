import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { EntityConfig } from '../resources/entity.ts';
import { InvalidResource } from '../resources/errors.ts';
import { decodeFrame, encodeFrame, type Frame, ProtocolError } from '../wire/frame.ts';
import { type CheckRequest, decodeCheckRequest, decodeEntityConfig } from '../wire/json-codec.ts';
import type { EventQueue } from './event-queue.ts';
import { Heartbeat } from './heartbeat.ts';

/** Handed to the socket and not yet taken by the system; more waits in the queue. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** How long the backend may take to answer a close frame. */
const CLOSE_WAIT_MS = 1_000;

const CLOSE_PROTOCOL_ERROR = 1002;
const CLOSE_GOING_AWAY = 1001;
export const CLOSE_TOO_LARGE = 1009;

interface SessionPorts {
  clock: Clock;
  log: Log;
  queue: EventQueue;
  received(message: EntityConfig | CheckRequest): void;
}

export const isCheckRequest = (message: EntityConfig | CheckRequest): message is CheckRequest => 'issued' in message;

const bytesOf = (data: RawData): Buffer =>
  Buffer.isBuffer(data) ? data : Buffer.concat(Array.isArray(data) ? data : [Buffer.from(data)]);

/** One open connection: sends keepalives and what the queue holds, tells what the backend says. */
export class Session {
  readonly #socket: WebSocket;
  /** Whether the backend confirms events; otherwise writing them must do. */
  readonly #acknowledging: boolean;
  readonly #ports: SessionPorts;
  readonly #heartbeat: Heartbeat;

  constructor(socket: WebSocket, acknowledging: boolean, ports: SessionPorts) {
    this.#socket = socket;
    this.#acknowledging = acknowledging;
    this.#ports = ports;
    this.#heartbeat = new Heartbeat(
      {
        ping: () => this.#socket.ping(),
        lost: () => {
          ports.log.warn({}, 'backend does not answer pings');
          this.#socket.terminate();
        },
      },
      ports.clock,
    );
    socket.on('pong', () => this.#heartbeat.pong());
    socket.on('message', (data: RawData) => this.#receive(bytesOf(data)));
    ports.queue.rewind();
  }

  sendKeepalive(payload: string): void {
    if (this.#isOpen()) this.#socket.send(encodeFrame('keepalive', payload));
  }

  /** Sends what the queue holds, as far as the socket takes it; the rest follows by itself. */
  flush(): void {
    while (this.#isOpen() && this.#socket.bufferedAmount < MAX_BUFFERED_BYTES) {
      const item = this.#ports.queue.next();
      if (item === undefined) return;
      const type = this.#acknowledging ? `event ${item.n}` : 'event';
      this.#socket.send(encodeFrame(type, item.payload), (error) => {
        // Unsent items stay in the queue, and the socket reports its end by itself.
        if (error) return;
        if (!this.#acknowledging) this.#ports.queue.confirm(item.n);
        this.flush();
      });
    }
  }

  close(): void {
    this.#closeWith(CLOSE_GOING_AWAY, 'bye');
  }

  /** The socket is closed, or about to be. */
  end(): void {
    this.#heartbeat.stop();
  }

  #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  #closeWith(code: number, reason: string): void {
    this.#socket.close(code, reason);
    const cancel = this.#ports.clock.after(CLOSE_WAIT_MS, () => this.#socket.terminate());
    this.#socket.once('close', cancel);
  }

  #receive(message: Buffer): void {
    // A closing socket still delivers what was on its way.
    if (!this.#isOpen()) return;
    try {
      this.#dispatch(decodeFrame(message));
    } catch (error) {
      if (error instanceof ProtocolError) {
        this.#ports.log.error({ err: error }, 'backend broke the protocol');
        this.#closeWith(CLOSE_PROTOCOL_ERROR, 'protocol error');
      } else if (error instanceof InvalidResource) {
        this.#ports.log.error({ err: error }, 'error handling message');
      } else {
        throw error;
      }
    }
  }

  #dispatch({ type, payload }: Frame): void {
    this.#ports.log.debug({ type, payload_size: payload.length }, 'message received');
    if (type === 'entity_config') this.#ports.received(decodeEntityConfig(payload));
    else if (type === 'check_request') this.#ports.received(decodeCheckRequest(payload));
    else if (type === 'ack' && this.#acknowledging) this.#confirm(payload.toString('latin1'));
    else throw new InvalidResource(`unknown message type: ${type}`);
  }

  #confirm(digits: string): void {
    if (!/^\d{1,16}$/.test(digits)) throw new InvalidResource('acknowledgement must be a number');
    this.#ports.queue.confirm(Number(digits));
  }
}
