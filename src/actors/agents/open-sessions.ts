import { entityKey } from '../../store/encoding/keyspace.ts';

interface OfAgent {
  readonly id: string;
  readonly namespace: string;
  readonly agentName: string;
}

/** The open connections, by id and by agent name. */
export class OpenSessions<S extends OfAgent> {
  readonly #byId = new Map<string, S>();
  /** The number of connections of each connected agent. */
  readonly #ofAgent = new Map<string, number>();

  get(id: string): S | undefined {
    return this.#byId.get(id);
  }

  ids(): Iterable<string> {
    return this.#byId.keys();
  }

  isConnected(namespace: string, agentName: string): boolean {
    return this.#ofAgent.has(entityKey(namespace, agentName));
  }

  /** The number of connections of an agent. */
  countOf(namespace: string, agentName: string): number {
    return this.#ofAgent.get(entityKey(namespace, agentName)) ?? 0;
  }

  add(session: S): void {
    if (this.#byId.has(session.id)) return;
    this.#byId.set(session.id, session);
    const key = entityKey(session.namespace, session.agentName);
    this.#ofAgent.set(key, (this.#ofAgent.get(key) ?? 0) + 1);
  }

  delete(id: string): void {
    const session = this.#byId.get(id);
    if (session === undefined) return;
    this.#byId.delete(id);
    const key = entityKey(session.namespace, session.agentName);
    const left = (this.#ofAgent.get(key) ?? 0) - 1;
    if (left > 0) this.#ofAgent.set(key, left);
    else this.#ofAgent.delete(key);
  }
}
