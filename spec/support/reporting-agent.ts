import type { AgentClient } from './agent-client.ts';
import { checkEvent, keepalive, type KeepaliveChanges } from './example-events.ts';
import type { RestartableBackend } from './restartable-backend.ts';

type Json = Record<string, unknown>;

export interface ReportingOptions {
  namespace?: string;
  subscriptions?: readonly string[];
}

/** An agent on the clock of the backend. Everything that it sends is stored when the promise resolves. */
export class ReportingAgent {
  readonly name: string;
  readonly #namespace: string;
  readonly #backend: RestartableBackend;
  readonly socket: AgentClient;
  #pings = 0;

  private constructor(backend: RestartableBackend, socket: AgentClient, name: string, namespace: string) {
    this.#backend = backend;
    this.socket = socket;
    this.name = name;
    this.#namespace = namespace;
  }

  static async connect(
    backend: RestartableBackend,
    name: string,
    { namespace = 'default', subscriptions = [] }: ReportingOptions = {},
  ): Promise<ReportingAgent> {
    const socket = await backend.connect({ name, namespace, subscriptions });
    return new ReportingAgent(backend, socket, name, namespace);
  }

  /** Sends a keepalive: interval 20 s, warning timeout 120 s and no critical timeout unless `changes` says otherwise. */
  keepalive(changes: KeepaliveChanges = {}): Promise<void> {
    return this.#send('keepalive', keepalive(this.name, { timestamp: this.#backend.nowS, ...changes }));
  }

  /** Sends a check result that was executed now. */
  result(check: string, result: Json = {}, changes: Json = {}): Promise<void> {
    const executed = this.#backend.nowS;
    const times = { executed, issued: executed };
    return this.#send(
      'event',
      checkEvent(this.name, check, { ...times, ...result }, { timestamp: executed, ...changes }),
    );
  }

  /** Drops the connection without a close frame, as if the agent had been killed. */
  async vanish(): Promise<void> {
    this.socket.terminate();
    await this.socket.closed();
    await this.#backend.clock.settle();
  }

  /** Sends an event and waits for a pong. The backend reads frames in order, so the event has been decided by then. */
  async #send(type: string, event: Json): Promise<void> {
    this.socket.send(type, inNamespace(event, this.#namespace));
    this.#pings += 1;
    await this.socket.ping(String(this.#pings));
    await this.#backend.clock.settle();
  }
}

/** Replaces the namespace `default` of the example events. */
function inNamespace(value: Json, namespace: string): Json {
  return JSON.parse(JSON.stringify(value).replaceAll('"namespace":"default"', `"namespace":"${namespace}"`)) as Json;
}
