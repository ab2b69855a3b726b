import { parseEventShape } from '../../src/resources/event.ts';
import type { Codec } from '../../src/wire/codec.ts';
import { decodeFrame, encodeFrame } from '../../src/wire/frame.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Keepalive, Numbered } from './oracle/inputs.ts';
import { SimulatedSocket } from './simulated-socket.ts';

export interface AgentHabits {
  name: string;
  codec: Codec;
  /** Numbers its events, and sends again what was not acknowledged. */
  hasQueue: boolean;
  keepalive: Omit<Keepalive, 'sentS'>;
  intervalS: number;
}

interface Queued {
  n: number;
  bytes: Buffer;
  read(numbered: Numbered | undefined): void;
}

/** Events that wait for an acknowledgement; beyond it the agent makes no more. */
const MAX_QUEUED = 60;

/** An agent as the wire document describes it, with or without a queue. */
export class SimulatedAgent {
  readonly habits: AgentHabits;
  readonly #random: SeededRandom;
  readonly #acknowledged: (numbered: Numbered) => void;
  #socket: SimulatedSocket | undefined;
  #queue: string;
  #unacknowledged: Queued[] = [];
  #lastN = 0;
  /** Requests of checks since somebody asked. */
  #requests: string[] = [];
  #isNew = false;
  /** The input by which this connection was told that there is no room for its entity. */
  refusedBy: number | undefined;
  /** By the backend, of the last connection that it closed. */
  closeCode: number | undefined;

  /** `acknowledged` is told up to which number events are promised to be durable. */
  constructor(habits: AgentHabits, random: SeededRandom, acknowledged: (numbered: Numbered) => void) {
    this.habits = habits;
    this.#random = random;
    this.#acknowledged = acknowledged;
    this.#queue = uuid(random);
  }

  get name(): string {
    return this.habits.name;
  }

  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  get isFull(): boolean {
    return this.#unacknowledged.length >= MAX_QUEUED;
  }

  get queueId(): string | undefined {
    return this.habits.hasQueue ? this.#queue : undefined;
  }

  /** The socket the backend gets; what is not acknowledged must be sent when it is open. */
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

  resend(): void {
    for (const queued of this.#unacknowledged) this.#sendNumbered(queued);
  }

  /** `<check> <when it was issued>` of each since the last time; undefined unless it was connected all the while. */
  takeRequests(): string[] | undefined {
    const taken = this.isConnected && !this.#isNew ? this.#requests.sort() : undefined;
    this.#isNew = false;
    this.#requests = [];
    return taken;
  }

  leave(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.leave(1001);
  }

  /** The connection is gone with the backend. */
  lose(): void {
    this.#socket = undefined;
  }

  /** What was queued is gone, too. */
  restart(): void {
    this.leave();
    this.#unacknowledged = [];
    this.#queue = uuid(this.#random);
    this.#lastN = 0;
  }

  /** `read` is called when the backend reads it. */
  sendKeepalive(nowS: number, read: () => void): void {
    const { warningS, criticalS } = this.habits.keepalive;
    const check = {
      metadata: this.#meta('keepalive'),
      interval: this.habits.intervalS,
      timeout: warningS,
      ttl: criticalS,
    };
    const bytes = this.#encode('keepalive', { timestamp: nowS, entity: this.#entity(nowS), check });
    this.#socket?.arrive({ bytes, read });
  }

  /** A result; without a queue and a connection nobody hears of it. */
  sendResult(nowS: number, check: object, read: Queued['read']): void {
    const event = { timestamp: nowS, entity: this.#entity(nowS), check };
    if (!this.habits.hasQueue) {
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

  #sendNumbered({ n, bytes, read }: Queued): void {
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
      const { config, issued } = this.habits.codec.decodeCheckRequest(payload);
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
    const { keepalive } = this.habits;
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
    const { codec } = this.habits;
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
