import type { AgentClient } from './agent-client.ts';
import { checkEvent, keepalive, type KeepaliveChanges } from './example-events.ts';
import type { RestartableBackend } from './restartable-backend.ts';

type Json = Record<string, unknown>;

export interface ReportingOptions {
  namespace?: string;
  subscriptions?: readonly string[];
}

/** An agent on the backend's own clock; what it has said is stored when the promise resolves. */
export class ReportingAgent {
  readonly name: string;
  readonly #namespace: string;
  readonly #backend: RestartableBackend;
  readonly socket: AgentClient;
  #said = 0;

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

  /** Timeouts in seconds; 20, 120 and none unless said otherwise. */
  keepalive(changes: KeepaliveChanges = {}): Promise<void> {
    return this.#say('keepalive', keepalive(this.name, { timestamp: this.#backend.nowS, ...changes }));
  }

  /** Executed now. */
  result(check: string, result: Json = {}, changes: Json = {}): Promise<void> {
    const executed = this.#backend.nowS;
    const times = { executed, issued: executed };
    return this.#say(
      'event',
      checkEvent(this.name, check, { ...times, ...result }, { timestamp: executed, ...changes }),
    );
  }

  /** As if it had been killed: nothing is said. */
  async vanish(): Promise<void> {
    this.socket.terminate();
    await this.socket.closed();
    await this.#backend.clock.settle();
  }

  /** Frames are read in order: the pong comes when what was sent before has been decided. */
  async #say(type: string, event: Json): Promise<void> {
    this.socket.send(type, inNamespace(event, this.#namespace));
    this.#said += 1;
    await this.socket.ping(String(this.#said));
    await this.#backend.clock.settle();
  }
}

/** The examples live in `default`. */
function inNamespace(value: Json, namespace: string): Json {
  return JSON.parse(JSON.stringify(value).replaceAll('"namespace":"default"', `"namespace":"${namespace}"`)) as Json;
}
