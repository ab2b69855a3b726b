import { randomUUID } from 'node:crypto';
import { AgentClient } from './agent-client.ts';

type Body = Record<string, unknown>;

/** Members that a recorded keepalive adds to the usual ones. */
export interface RecordedKeepalive {
  /** Of the check. */
  over?: Body;
  /** Of the entity. */
  ent?: Body;
  /** Of the event. */
  top?: Body;
}

const agentEntity = (name: string, namespace: string, subscriptions: readonly string[]): Body => ({
  entity_class: 'agent',
  system: { hostname: name, os: 'linux', arch: 'amd64', network: { interfaces: null } },
  subscriptions: [...subscriptions, `entity:${name}`],
  user: 'agent',
  metadata: { name, namespace },
});

/** The agents of one recorded scenario of the event pipeline. What they send has been decided when a promise resolves. */
export class PipelineAgents {
  readonly #port: number;
  readonly #namespace: string;
  readonly #agents = new Map<string, { socket: AgentClient; entity: Body }>();

  constructor(port: number, namespace: string) {
    this.#port = port;
    this.#namespace = namespace;
  }

  async connect(name: string, subscriptions: readonly string[]): Promise<void> {
    const socket = await AgentClient.connect(this.#port, { name, namespace: this.#namespace, subscriptions });
    this.#agents.set(name, { socket, entity: agentEntity(name, this.#namespace, subscriptions) });
  }

  async keepalive(name: string, { over = {}, ent = {}, top = {} }: RecordedKeepalive): Promise<void> {
    const agent = this.#agent(name);
    const timestamp = Math.floor(Date.now() / 1_000);
    agent.entity = { ...agent.entity, ...ent, last_seen: timestamp };
    const metadata = { name: 'keepalive', namespace: this.#namespace };
    const check = { metadata, interval: 20, timeout: 120, executed: timestamp, issued: timestamp, ...over };
    await this.#send(name, 'keepalive', { timestamp, sequence: 1, check, ...top });
  }

  result(name: string, event: Body): Promise<void> {
    return this.#send(name, 'event', { sequence: 2, ...event });
  }

  close(name: string): Promise<void> {
    return this.#agent(name).socket.disconnect();
  }

  terminate(): void {
    for (const { socket } of this.#agents.values()) socket.terminate();
  }

  #agent(name: string): { socket: AgentClient; entity: Body } {
    const agent = this.#agents.get(name);
    if (agent === undefined) throw new Error(`no agent ${name} is connected`);
    return agent;
  }

  async #send(name: string, type: string, event: Body): Promise<void> {
    const { socket, entity } = this.#agent(name);
    socket.send(type, { id: randomUUID(), metadata: { namespace: this.#namespace }, ...event, entity });
    await socket.ping(type);
  }
}
