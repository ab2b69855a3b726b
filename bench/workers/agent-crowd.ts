import { setTimeout as delay } from 'node:timers/promises';
import { encodeKeepalive, type KeepaliveTimeouts } from '../support/agent-events.ts';
import { RawAgentSocket } from '../support/raw-agent-socket.ts';

export interface AgentCrowd {
  port: number;
  /** The number of the first agent, `agent-<first>`. */
  first: number;
  agents: number;
  localAddress: string;
  timeouts: Required<KeepaliveTimeouts>;
}

/** `connect` a few at a time, or cut all and reconnect them `at once`. */
export type CrowdOrder = 'connect' | 'at once';

/** Sent when all are connected. */
export interface CrowdConnected {
  /** Failed attempts that were repeated. */
  retries: number;
}

const crowd = JSON.parse(process.argv[2] ?? '{}') as AgentCrowd;
/** The number of concurrent handshakes of the order `connect`. */
const CONCURRENT_HANDSHAKES = 100;
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

  /** Resolves at the first message of the backend, which then has the session. */
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
    const sendKeepalive = (): void => {
      socket.send(encodeKeepalive(this.#name, crowd.timeouts));
    };
    sendKeepalive();
    this.#keepalives = setInterval(sendKeepalive, crowd.timeouts.intervalS * 1_000);
  }

  /** Resets the connection without a close frame, like a failed network. */
  cut(): void {
    clearInterval(this.#keepalives);
    this.#socket?.cut();
  }
}

const agents = Array.from({ length: crowd.agents }, (_, index) => new IdleAgent(`agent-${crowd.first + index}`));

async function connectGradually(): Promise<void> {
  const waiting = agents.values();
  const connectNext = async (): Promise<void> => {
    for (const agent of waiting) await agent.connect();
  };
  await Promise.all(Array.from({ length: CONCURRENT_HANDSHAKES }, connectNext));
}

async function reconnectAtOnce(): Promise<void> {
  for (const agent of agents) agent.cut();
  await Promise.all(agents.map((agent) => agent.connect()));
}

process.on('message', (order: CrowdOrder) => {
  retries = 0;
  void (order === 'connect' ? connectGradually() : reconnectAtOnce()).then(() => {
    process.send?.({ retries } satisfies CrowdConnected);
  });
});
process.on('disconnect', () => {
  // Closed connections would keep their ports for a minute (TIME_WAIT). The system then needs about a millisecond to find a port for
  // each of the next 10,000.
  for (const agent of agents) agent.cut();
  process.exit(0);
});
