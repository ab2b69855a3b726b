import { ProcessClock } from '../support/process-clock.ts';
import { hasRoomFor } from '../../src/actors/entities/entity-limit.ts';
import { createInitialResources } from '../../src/actors/administration/initial-resources.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import { startPipeline } from '../../src/main/serve/start-pipeline.ts';
import type { Pipeline } from '../../src/pipeline/pipeline.ts';
import { type HandleEvent, workflowRunner } from '../../src/pipeline/workflow-run.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Log } from '../../src/ports/log.ts';
import { reportRequest } from '../../src/actors/schedules/schedule-reports.ts';
import { AgentListener } from '../../src/sessions/listener.ts';
import type { AcceptedConnection } from '../../src/sessions/connection/session-ports.ts';
import { readResource, ResourceStore } from '../../src/store/resource-store.ts';
import { Decision, emptyPuts } from '../../src/store/commit/decision.ts';
import { plainWorkflowPorts } from '../support/workflow-ports.ts';
import { type SimulatedDisk, SimulatedStore, type WriteObserver } from './simulated-store.ts';
import type { SimulatedSocket } from './simulated-socket.ts';

/** The name of the backend's own entity. */
export const BACKEND_NAME = 'backend-01';

const MAX_MESSAGE_BYTES = 1_048_576;
const WRITE_TIMEOUT_MS = 15_000;
/** A low bound, so that the backend evicts and restores actors all the time. */
const MAX_AWAKE_ACTORS = 12;

export interface SimulatedBackendPorts {
  disk: SimulatedDisk;
  clock: Clock;
  log: Log;
  observer: WriteObserver;
  /** Replaces real handlers. */
  handleWith(clock: Clock): HandleEvent;
  /** Maximum number of entities; 0 = no limit. */
  entityLimit: number;
}

/** One process of the backend. Everything is real except the disk, the clock and the sockets. It ends by a crash. */
export class SimulatedBackend {
  readonly system: ActorSystem;
  readonly #store: SimulatedStore;
  readonly #clock: ProcessClock;
  readonly #ports: SimulatedBackendPorts;
  readonly #listener: AgentListener;
  readonly #sockets = new Set<SimulatedSocket>();
  #pipeline: Pipeline | undefined;

  constructor(ports: SimulatedBackendPorts) {
    this.#ports = ports;
    const { disk, log, observer, entityLimit } = ports;
    this.#clock = new ProcessClock(ports.clock);
    const clock = this.#clock;
    this.#store = new SimulatedStore(disk, (delayMs, fire) => void clock.after(delayMs, fire), observer);
    this.system = new ActorSystem({
      store: this.#store,
      clock,
      log,
      backendName: BACKEND_NAME,
      maxAwakeActors: MAX_AWAKE_ACTORS,
      settings: { entityLimit },
    });
    this.#listener = new AgentListener({
      system: this.system,
      resources: new ResourceStore(this.#store),
      // A simulated socket begins after its handshake.
      authenticate: () => Promise.resolve({ status: 401, message: 'not used' }),
      mayCreateEvents: () => false,
      hasRoomFor: (_, name) => this.hasRoomFor(name),
      namespaceExists: () => false,
      requested: (announcement, receipts) => {
        reportRequest(this.system.decider, announcement, receipts);
      },
      withheld: () => undefined,
      resolveSecrets: () => ({ environment: [] }),
      ringsJoined: () => undefined,
      status: () => undefined,
      clock,
      log,
      backendName: BACKEND_NAME,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      writeTimeoutMs: WRITE_TIMEOUT_MS,
    });
  }

  /** Writes what `mon-backend init` writes to an empty disk. */
  static initialise(disk: SimulatedDisk, atMs: number): void {
    const decision = new Decision({ get: () => undefined, keys: () => new Set<string>() });
    const hash = 'not used: there are no logins';
    createInitialResources(
      decision,
      { username: 'admin', passwordHash: hash, agentPasswordHash: hash, apiKey: undefined },
      atMs,
    );
    const puts = emptyPuts();
    for (const { table, key, value } of decision.puts) (puts[table] as Map<string, unknown>).set(key, value);
    const observer = { plan: () => ({ delayMs: 0, fails: false }), started: () => undefined, ended: () => undefined };
    void new SimulatedStore(disk, () => undefined, observer).write({ puts, ledger: [] });
  }

  /** Resolves when the backend accepts connections. */
  async start(): Promise<void> {
    await this.system.start();
    const { log, handleWith } = this.#ports;
    const clock = this.#clock;
    const run = workflowRunner({
      ...plainWorkflowPorts(clock, (namespace, name) => readResource(this.#store, 'handlers', namespace, name)),
      handle: handleWith(clock),
    });
    const ports = {
      clock,
      log,
      random: () => 0,
      run,
      handlerRetryForMs: 0,
      backendName: BACKEND_NAME,
      quarantineDirectory: '/nonexistent',
    };
    const { pipeline, loaded } = startPipeline(this.system, this.#store, ports);
    this.#pipeline = pipeline;
    await loaded;
  }

  get isWriting(): boolean {
    return this.#store.isWriting;
  }

  /** Number of handlers that run or wait. */
  get waiting(): number {
    return this.#pipeline?.waiting ?? 0;
  }

  /** Whether a handshake of this agent passes the entity limit. */
  hasRoomFor(name: string): boolean {
    return hasRoomFor(this.#store, this.#ports.entityLimit, 'default', name);
  }

  connect(socket: SimulatedSocket, opening: AcceptedConnection): void {
    this.#sockets.add(socket);
    this.#listener.open(socket.asWebSocket(), opening);
  }

  /** Kills the process at once. Returns whether the write in flight reached the disk. */
  crash(keepsInFlight: boolean): boolean {
    this.#clock.stop();
    for (const socket of this.#sockets) socket.break();
    return this.#store.crash(keepsInFlight);
  }
}
