import type { AddressInfo } from 'node:net';
import { createInitialResources } from '../../src/actors/administration/initial-resources.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import { AgentListener, type ListenerPorts } from '../../src/sessions/listener.ts';
import type { PortLimits } from '../../src/sessions/handshake/port-limits.ts';
import { ResourceStore } from '../../src/store/resource-store.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { RawAgent } from './raw-agent.ts';

const MAX_MESSAGE_BYTES = 1024 * 1024;
const WRITE_TIMEOUT_MS = 15_000;
/** The time after which a stop cuts the remaining connections. */
const STOP_MS = 2_000;

/** The agent port with real sockets and a system in memory. The test controls authentication, pauses and failures. */
export class AgentPortUnderTest {
  readonly clock = new ManualClock();
  readonly log = new RecordedLog();
  readonly store = new MemoryStore();
  readonly system: ActorSystem;
  readonly listener: AgentListener;
  /** Each handshake waits for it, as for the hash of a password. */
  password: Promise<unknown> = Promise.resolve();
  /** The number of handshakes that were authenticated. */
  authentications = 0;
  mustPause = false;
  isFailing = false;
  readonly #agents: RawAgent[] = [];

  private constructor(limits: PortLimits | undefined) {
    const { store, clock, log } = this;
    this.system = new ActorSystem({ store, clock, log, backendName: 'backend' });
    this.listener = new AgentListener({
      system: this.#underControl(),
      resources: new ResourceStore(store),
      authenticate: async () => {
        this.authentications += 1;
        await this.password;
        return { username: 'agent', groups: [] };
      },
      mayCreateEvents: () => true,
      hasRoomFor: () => true,
      namespaceExists: () => true,
      requested: () => undefined,
      withheld: () => undefined,
      resolveSecrets: () => ({ environment: [] }),
      ringsJoined: () => undefined,
      status: () => undefined,
      clock,
      log,
      backendName: 'backend',
      maxMessageBytes: MAX_MESSAGE_BYTES,
      writeTimeoutMs: WRITE_TIMEOUT_MS,
      limits,
    });
  }

  #underControl(): ListenerPorts['system'] {
    const { agents } = this.system;
    const isFailing = () => this.isFailing;
    const mustPause = () => this.mustPause || this.isFailing;
    return {
      agents,
      listen: (listener) => {
        this.system.listen(listener);
      },
      limits: { isMemoryFull: false },
      get isFailing() {
        return isFailing();
      },
      get mustPause() {
        return mustPause();
      },
    };
  }

  static async start(limits?: PortLimits): Promise<AgentPortUnderTest> {
    const port = new AgentPortUnderTest(limits);
    await port.system.start();
    const administrator = { username: 'admin', passwordHash: '', agentPasswordHash: '', apiKey: undefined };
    const seeded = port.system.decider.decide({ cause: { user: 'admin' } }, ({ decision, nowMs }) => {
      createInitialResources(decision, administrator, nowMs);
    });
    await seeded.durable;
    await new Promise<void>((resolve) => port.listener.server.listen(0, '127.0.0.1', resolve));
    return port;
  }

  get #port(): number {
    return (this.listener.server.address() as AddressInfo).port;
  }

  /** Opens `count` connections. The backend has accepted them and they have sent nothing yet. */
  async connect(count: number): Promise<RawAgent[]> {
    const accepted = new Promise<void>((resolve) => {
      let left = count;
      const accept = (): void => {
        left -= 1;
        if (left > 0) return;
        this.listener.server.off('connection', accept);
        resolve();
      };
      this.listener.server.on('connection', accept);
    });
    const agents = await Promise.all(Array.from({ length: count }, () => RawAgent.connect(this.#port)));
    this.#agents.push(...agents);
    await accepted;
    return agents;
  }

  /** Opens `count` connections at once, each of which sends its handshake as soon as it is connected. */
  async arrive(count: number, nameOf: (index: number) => string): Promise<void> {
    const arrive = async (index: number): Promise<void> => {
      const agent = await RawAgent.connect(this.#port);
      this.#agents.push(agent);
      agent.handshake(nameOf(index));
    };
    await Promise.all(Array.from({ length: count }, (_, index) => arrive(index)));
  }

  /** Cuts the agents and stops the system. */
  async stop(): Promise<void> {
    for (const agent of this.#agents) agent.cut();
    // A session that is not read does not close before the time limit of the stop.
    await Promise.all([this.listener.stop(), this.clock.advance(STOP_MS)]);
    await this.system.stop();
  }
}
