import { randomUUID } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { EntityConfig } from '../resources/entity.ts';
import type { CheckEvent } from '../resources/event.ts';
import { encodeJson, NOT_FOUND_NAME } from '../wire/json-codec.ts';
import { Connection } from './connection.ts';
import { AgentEntity } from './entity.ts';
import { EventQueue } from './event-queue.ts';
import { Executor } from './executor.ts';
import { type KeepaliveSettings, Keepalives } from './keepalives.ts';
import { encodeWithinLimit } from './outgoing-event.ts';
import { Sequences } from './sequences.ts';
import { SystemFacts } from './system-facts.ts';

/** How long a stop waits for running checks, and then for the backend to take their results. */
const CHECK_GRACE_MS = 5_000;
const DELIVERY_GRACE_MS = 1_000;
const DELIVERY_POLL_MS = 20;

export interface AgentSettings {
  readonly name: string;
  readonly namespace: string;
  readonly backendUrls: readonly string[];
  readonly subscriptions: readonly string[];
  readonly user: string;
  readonly password: string;
  readonly keepalive: KeepaliveSettings;
}

interface AgentPorts {
  clock: Clock;
  log: Log;
  /** Uniform in [0, 1). */
  random(): number;
}

/** The parts of an agent, put together: requests come in by the connection, results go out by the queue. */
export class Agent {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #facts: SystemFacts;
  readonly #entity: AgentEntity;
  readonly #sequences = new Sequences();
  readonly #queue = new EventQueue();
  readonly #executor: Executor;
  readonly #keepalives: Keepalives;
  readonly #connection: Connection;
  #droppedBefore = 0;
  #stopping = false;

  constructor(settings: AgentSettings, version: string, ports: AgentPorts) {
    const { clock, log } = ports;
    const { name, namespace, subscriptions, user, password } = settings;
    this.#clock = clock;
    this.#log = log;
    this.#facts = new SystemFacts(clock, log);
    this.#entity = new AgentEntity(settings, version, () => this.#facts.current, clock);
    const building = {
      clock,
      entity: () => this.#entity.current(),
      nextSequence: (checkName: string) => this.#sequences.next(checkName),
    };
    this.#executor = new Executor({ ...building, log, deliver: (event) => this.#deliver(event) });
    this.#keepalives = new Keepalives(settings.keepalive, building);
    this.#connection = new Connection(
      {
        backendUrls: settings.backendUrls,
        // The queue is lost with the process: a new one begins with new numbers, under a name of its own.
        hello: { agentName: name, namespace, subscriptions: [...subscriptions], user, queueId: randomUUID() },
        credentials: { username: user, password },
      },
      {
        clock,
        log,
        random: () => ports.random(),
        queue: this.#queue,
        sessionBegan: () => {
          this.#sequences.restart();
          this.#entity.forgetAdopted();
        },
        configReceived: (config) => this.#configReceived(config),
        checkRequested: (request) => this.#executor.accept(request),
        beginKeepalives: (send) => this.#keepalives.begin((keepalive) => send(encodeJson(keepalive))),
        endKeepalives: () => this.#keepalives.end(),
      },
    );
  }

  async start(): Promise<void> {
    await this.#facts.start();
    if (!this.#stopping) this.#connection.start();
  }

  /** Waits for running checks and for their delivery, each for a while; called again, it waits for no check any more. */
  async stop(): Promise<void> {
    if (this.#stopping) {
      this.#executor.abort();
      return;
    }
    this.#stopping = true;
    await this.#executor.stop(CHECK_GRACE_MS);
    await this.#delivered();
    await this.#connection.stop();
    this.#facts.stop();
    if (this.#queue.size > 0)
      this.#log.warn({ events: this.#queue.size }, 'stopped with events that were not delivered');
  }

  #deliver(event: CheckEvent): void {
    this.#queue.push(encodeWithinLimit(event));
    if (this.#queue.dropped > this.#droppedBefore) {
      this.#droppedBefore = this.#queue.dropped;
      this.#log.warn({ dropped: this.#queue.dropped }, 'event queue is full, oldest event dropped');
    }
    this.#connection.flush();
  }

  #configReceived(config: EntityConfig): void {
    if (config.metadata.name === NOT_FOUND_NAME || this.#entity.adopt(config)) return;
    this.#log.warn({ name: config.metadata.name }, 'entity config of another entity ignored');
  }

  async #delivered(): Promise<void> {
    const endMs = this.#clock.monotonicMs() + DELIVERY_GRACE_MS;
    while (this.#queue.size > 0 && this.#connection.isOpen && this.#clock.monotonicMs() < endMs) {
      await new Promise<void>((resolve) => void this.#clock.after(DELIVERY_POLL_MS, resolve));
    }
  }
}
