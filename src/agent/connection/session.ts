import { setImmediate as nextTick } from 'node:timers/promises';
import type { RawData, WebSocket } from 'ws';
import { atOnce } from '../../exec/in-slices.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { EntityConfig } from '../../resources/entity.ts';
import { InvalidResource } from '../../resources/errors.ts';
import type { Event } from '../../resources/event.ts';
import type { Codec } from '../../wire/codec.ts';
import { decodeFrame, encodeFrame, type Frame, ProtocolError, STOP_TYPE } from '../../wire/frame.ts';
import type { CheckRequest } from '../../wire/check-request.ts';
import type { EventQueue, QueuedEvent } from '../queue/event-queue.ts';
import type { AgentMetrics } from '../metrics/agent-metrics.ts';
import { Heartbeat, type HeartbeatSettings } from './heartbeat.ts';
import { encodeQueued, LARGE_PAYLOAD } from '../queue/outgoing-event.ts';

/** Bytes passed to the socket that the system has not accepted. Further events stay in the queue. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** How long the backend may take to answer a close frame. */
const CLOSE_WAIT_MS = 1_000;

const CLOSE_GOING_AWAY = 1001;
export const CLOSE_TOO_LARGE = 1009;

/** The options that both sides agreed on in the handshake. */
export interface SessionOptions {
  /** Whether the backend acknowledges events. Otherwise an event counts as delivered once it is written. */
  readonly acknowledging: boolean;
  readonly codec: Codec;
}

interface SessionPorts {
  clock: Clock;
  log: Log;
  metrics: Pick<AgentMetrics, 'count'>;
  queue: EventQueue;
  received(message: EntityConfig | CheckRequest): void;
}

export const isCheckRequest = (message: EntityConfig | CheckRequest): message is CheckRequest => 'issued' in message;

const bytesOf = (data: RawData): Buffer =>
  Buffer.isBuffer(data) ? data : Buffer.concat(Array.isArray(data) ? data : [Buffer.from(data)]);

/** One open connection. It sends keepalives and queued events, and passes on the backend's messages. */
export class Session {
  readonly #socket: WebSocket;
  readonly #options: SessionOptions;
  readonly #ports: SessionPorts;
  readonly #heartbeat: Heartbeat;
  /** The size of the largest keepalive that was sent; 0 before the first one. */
  largestKeepaliveBytes = 0;
  /** Whether a large event is being encoded. */
  #isEncoding = false;

  constructor(socket: WebSocket, options: SessionOptions, heartbeat: HeartbeatSettings, ports: SessionPorts) {
    this.#socket = socket;
    this.#options = options;
    this.#ports = ports;
    this.#heartbeat = new Heartbeat(
      heartbeat,
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
    ports.queue.beginConnection();
  }

  sendKeepalive(keepalive: Event): void {
    if (!this.#isOpen()) return;
    const { id, entity, check } = keepalive;
    const fields = { event_uuid: id, entity: entity?.metadata.name, check: check?.metadata.name };
    this.#ports.log.info(fields, 'sending event to backend');
    const frame = encodeFrame('keepalive', this.#options.codec.encodeEvent(keepalive));
    this.largestKeepaliveBytes = Math.max(this.largestKeepaliveBytes, frame.length);
    this.#socket.send(frame);
    this.#ports.metrics.count('messages_sent');
  }

  /** Sends queued events as long as the socket accepts them, and continues when they are written. */
  flush(): void {
    while (!this.#isEncoding && this.#isOpen() && this.#socket.bufferedAmount < MAX_BUFFERED_BYTES) {
      const item = this.#ports.queue.next();
      if (item === undefined) return;
      const steps = this.#send(item);
      if (item.payload.length < LARGE_PAYLOAD) atOnce(steps);
      else void this.#sendInTicks(steps);
    }
  }

  /** Gives each step a tick of the event loop of its own. Later events wait, so that the order stays. */
  async #sendInTicks(steps: Iterator<undefined>): Promise<void> {
    this.#isEncoding = true;
    while (steps.next().done !== true) await nextTick();
    this.#isEncoding = false;
    this.flush();
  }

  *#send(item: QueuedEvent): Generator<undefined, void> {
    const payload = yield* this.#encode(item);
    if (payload === undefined) return;
    const { acknowledging, codec } = this.#options;
    yield;
    const frame = encodeFrame(acknowledging ? `event ${item.n}` : 'event', payload);
    yield;
    // The next connection sends the event when this one has closed in the meantime.
    if (!this.#isOpen()) return;
    const fields = { type: 'event', content_type: codec.mediaType, payload_size: payload.length };
    this.#ports.log.info(fields, 'sending message');
    this.#socket.send(frame, (error) => {
      // Unsent events stay in the queue. The socket reports its own failure.
      if (error) return;
      this.#ports.metrics.count('messages_sent');
      if (!acknowledging) this.#ports.queue.confirm(item.n);
      this.flush();
    });
  }

  /** Encodes a queued event. An event queued by another version may not match the schema, and is discarded. */
  *#encode({ n, payload }: QueuedEvent): Generator<undefined, string | Buffer | undefined> {
    try {
      return yield* encodeQueued(payload, this.#options.codec);
    } catch (error) {
      if (!(error instanceof InvalidResource)) throw error;
      this.#ports.log.error({ n, err: error }, 'dropping a queued event that cannot be encoded');
      this.#ports.queue.discard(n);
      this.#ports.metrics.count('messages_dropped');
      return undefined;
    }
  }

  /** Announces that the agent stops, to a backend that knows the message. */
  announceStop(): void {
    if (!this.#isOpen() || !this.#options.acknowledging) return;
    this.#socket.send(encodeFrame(STOP_TYPE, ''));
    this.#ports.metrics.count('messages_sent');
  }

  close(): void {
    this.#socket.close(CLOSE_GOING_AWAY, 'bye');
    const cancel = this.#ports.clock.after(CLOSE_WAIT_MS, () => this.#socket.terminate());
    this.#socket.once('close', cancel);
  }

  /** Must be called when the socket is closed or closing. */
  end(): void {
    this.#heartbeat.stop();
    this.#ports.queue.endConnection();
  }

  #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  #receive(message: Buffer): void {
    // A closing socket may still deliver messages.
    if (!this.#isOpen()) return;
    try {
      this.#dispatch(decodeFrame(message));
    } catch (error) {
      if (error instanceof ProtocolError) {
        this.#ports.log.error({ err: error }, 'protocol violation by the backend');
        this.close();
      } else if (error instanceof InvalidResource) {
        this.#ports.log.error({ error: error.message }, 'error handling message');
      } else {
        throw error;
      }
    }
  }

  #dispatch({ type, payload }: Frame): void {
    const { acknowledging, codec } = this.#options;
    this.#ports.metrics.count('messages_received');
    const fields = { type, content_type: codec.mediaType, payload_size: payload.length };
    this.#ports.log.info(fields, 'message received');
    if (type === 'entity_config') this.#ports.received(codec.decodeEntityConfig(payload));
    else if (type === 'check_request') this.#ports.received(codec.decodeCheckRequest(payload));
    else if (type === 'ack' && acknowledging) this.#confirm(payload.toString('latin1'));
    else throw new InvalidResource(`unknown message type: ${type}`);
  }

  #confirm(digits: string): void {
    if (!/^\d{1,16}$/.test(digits)) throw new InvalidResource('acknowledgement must be a number');
    this.#ports.queue.confirm(Number(digits));
  }
}
