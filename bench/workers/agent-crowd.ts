import { setTimeout as delay } from 'node:timers/promises';
import { encodeKeepalive, type KeepaliveTimeouts } from '../support/agent-events.ts';
import { RawAgentSocket } from '../support/raw-agent-socket.ts';

export interface AgentCrowd {
  port: number;
  /** Agents `agent-<first>` and on. */
  first: number;
  agents: number;
  localAddress: string;
  timeouts: Required<KeepaliveTimeouts>;
}

/** `connect` a few at a time, or cut all and let them come back `at once`. */
export type CrowdOrder = 'connect' | 'at once';

/** All are connected. */
export interface CrowdConnected {
  /** Attempts that failed and were made again. */
  retries: number;
}

const crowd = JSON.parse(process.argv[2] ?? '{}') as AgentCrowd;
/** Handshakes under way while nobody is in a hurry. */
const IN_TURN = 100;
const RETRY_MS = 1_000;
let retries = 0;

/** An idle agent: its connection, and a keepalive in each interval. */
class IdleAgent {
  readonly #name: string;
  #socket: RawAgentSocket | undefined;
  #keepalives: NodeJS.Timeout | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** Resolves when the first message of the backend has come: it knows the agent then. */
  async connect(): Promise<void> {
    for (;;) {
      const socket = new RawAgentSocket(this.#name, crowd);
      if (await socket.greeted) {
        this.#socket = socket;
        this.#begin(socket);
        return;
      }
      retries += 1;
      await delay(RETRY_MS);
    }
  }

  #begin(socket: RawAgentSocket): void {
    const say = (): void => {
      socket.send(encodeKeepalive(this.#name, crowd.timeouts));
    };
    say();
    this.#keepalives = setInterval(say, crowd.timeouts.intervalS * 1_000);
  }

  /** As a network does that goes away: nothing is said. */
  cut(): void {
    clearInterval(this.#keepalives);
    this.#socket?.cut();
  }
}

const agents = Array.from({ length: crowd.agents }, (_, index) => new IdleAgent(`agent-${crowd.first + index}`));

async function connectInTurn(): Promise<void> {
  const waiting = agents.values();
  const line = async (): Promise<void> => {
    for (const agent of waiting) await agent.connect();
  };
  await Promise.all(Array.from({ length: IN_TURN }, line));
}

async function reconnectAtOnce(): Promise<void> {
  for (const agent of agents) agent.cut();
  await Promise.all(agents.map((agent) => agent.connect()));
}

process.on('message', (order: CrowdOrder) => {
  retries = 0;
  void (order === 'connect' ? connectInTurn() : reconnectAtOnce()).then(() => {
    process.send?.({ retries } satisfies CrowdConnected);
  });
});
process.on('disconnect', () => process.exit(0));
