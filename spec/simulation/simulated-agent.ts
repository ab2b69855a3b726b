import { parseEventShape } from '../../src/resources/event.ts';
import type { Codec } from '../../src/wire/codec.ts';
import { decodeFrame, encodeFrame } from '../../src/wire/frame.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Keepalive, Numbered } from './oracle/inputs.ts';
import { SimulatedSocket } from './simulated-socket.ts';

export interface AgentSettings {
  name: string;
  codec: Codec;
  /** Whether it numbers its events and resends those without an acknowledgement. */
  hasQueue: boolean;
  keepalive: Omit<Keepalive, 'sentS'>;
  intervalS: number;
}

/** An event that was sent and is not acknowledged. */
interface QueuedEvent {
  n: number;
  bytes: Buffer;
  read(numbered: Numbered | undefined): void;
}

/** Bound of the events without an acknowledgement; a full agent generates no more. */
const MAX_QUEUED = 60;

/** An agent that follows the wire document, with or without a queue. */
export class SimulatedAgent {
  readonly settings: AgentSettings;
  readonly #random: SeededRandom;
  readonly #acknowledged: (numbered: Numbered) => void;
  #socket: SimulatedSocket | undefined;
  #queue: string;
  #unacknowledged: QueuedEvent[] = [];
  #lastN = 0;
  /** Check requests since the last call of `takeRequests`. */
  #requests: string[] = [];
  #isNew = false;
  /** Number of the input at which this connection was refused by the entity limit. */
  refusedBy: number | undefined;
  /** Close code of the last connection that the backend closed. */
  closeCode: number | undefined;

  /** `acknowledged` receives each acknowledgement: events up to that number are promised to be durable. */
  constructor(settings: AgentSettings, random: SeededRandom, acknowledged: (numbered: Numbered) => void) {
    this.settings = settings;
    this.#random = random;
    this.#acknowledged = acknowledged;
    this.#queue = uuid(random);
  }

  get name(): string {
    return this.settings.name;
  }

  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  get isFull(): boolean {
    return this.#unacknowledged.length >= MAX_QUEUED;
  }

  get queueId(): string | undefined {
    return this.settings.hasQueue ? this.#queue : undefined;
  }

  /** Returns the backend's end of a new connection. The caller calls `resend` once the backend has opened it. */
  connect(): SimulatedSocket {
    const socket = new SimulatedSocket({
      received: (frame) => {
        this.#received(frame);
      },
      closed: (code) => {
        this.#socket = undefined;
        this.closeCode = code;
      },
    });
    this.#socket = socket;
    this.#isNew = true;
    this.refusedBy = undefined;
    this.closeCode = undefined;
    return socket;
  }

  /** Sends all events without an acknowledgement again. */
  resend(): void {
    for (const queued of this.#unacknowledged) this.#sendNumbered(queued);
  }

  /** Returns `<check> <issued>` for each check request since the last call; undefined unless the agent was connected all the time. */
  takeRequests(): string[] | undefined {
    const taken = this.isConnected && !this.#isNew ? this.#requests.sort() : undefined;
    this.#isNew = false;
    this.#requests = [];
    return taken;
  }

  /** Closes the connection in an orderly way. */
  leave(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.leave(1001);
  }

  /** Drops the connection: the backend crashed. */
  connectionLost(): void {
    this.#socket = undefined;
  }

  /** Starts a new process: the connection and the queue are gone. */
  restart(): void {
    this.leave();
    this.#unacknowledged = [];
    this.#queue = uuid(this.#random);
    this.#lastN = 0;
  }

  /** Sends a keepalive. `read` is called when the backend reads it. */
  sendKeepalive(nowS: number, read: () => void): void {
    const { warningS, criticalS } = this.settings.keepalive;
    const check = {
      metadata: this.#meta('keepalive'),
      interval: this.settings.intervalS,
      timeout: warningS,
      ttl: criticalS,
    };
    const bytes = this.#encode('keepalive', { timestamp: nowS, entity: this.#entity(nowS), check });
    this.#socket?.arrive({ bytes, read });
  }

  /** Sends a check result. Without a queue and a connection it is lost. */
  sendResult(nowS: number, check: object, read: QueuedEvent['read']): void {
    const event = { timestamp: nowS, entity: this.#entity(nowS), check };
    if (!this.settings.hasQueue) {
      this.#socket?.arrive({
        bytes: this.#encode('event', event),
        read: () => {
          read(undefined);
        },
      });
      return;
    }
    this.#lastN += 1 + (this.#random.oneIn(10) ? this.#random.below(50) : 0);
    const queued = { n: this.#lastN, bytes: this.#encode(`event ${this.#lastN}`, event), read };
    this.#unacknowledged.push(queued);
    this.#sendNumbered(queued);
  }

  #sendNumbered({ n, bytes, read }: QueuedEvent): void {
    const queue = this.#queue;
    this.#socket?.arrive({
      bytes,
      read: () => {
        read({ queue, n });
      },
    });
  }

  #received(frame: Buffer): void {
    const { type, payload } = decodeFrame(frame);
    if (type === 'check_request') {
      const { config, issued } = this.settings.codec.decodeCheckRequest(payload);
      this.#requests.push(`${config?.metadata.name} ${issued}`);
    }
    if (type !== 'ack') return;
    const n = Number(payload.toString());
    this.#acknowledged({ queue: this.#queue, n });
    this.#unacknowledged = this.#unacknowledged.filter((queued) => queued.n > n);
  }

  #meta(name: string) {
    return { name, namespace: 'default' };
  }

  #entity(nowS: number) {
    const { keepalive } = this.settings;
    return {
      entity_class: 'agent',
      metadata: this.#meta(this.name),
      subscriptions: [...keepalive.subscriptions],
      last_seen: nowS,
      deregister: keepalive.deregister,
      deregistration: { handler: keepalive.deregistrationHandler },
      keepalive_handlers: keepalive.handlers,
    };
  }

  #encode(type: string, event: object): Buffer {
    const { codec } = this.settings;
    const whole = parseEventShape({
      ...event,
      metadata: { namespace: 'default' },
      id: uuid(this.#random),
      sequence: 1,
    });
    return encodeFrame(type, codec.encodeEvent(whole));
  }
}

export function uuid(random: SeededRandom): string {
  const digits = Array.from({ length: 32 }, () => random.below(16).toString(16)).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
