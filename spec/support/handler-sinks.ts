import type { ApiClient } from './api-client.ts';
import { HandlerSink } from './handler-sink.ts';
import { at } from './json-path.ts';

/** Handlers of the namespace `default`, each with its own sink. */
export class HandlerSinks {
  readonly #api: ApiClient;
  readonly #sinks = new Map<string, HandlerSink>();

  constructor(api: ApiClient) {
    this.#api = api;
  }

  /** Creates a handler. @throws unless the backend accepts it */
  async add(name: string, filters: readonly string[] = []): Promise<void> {
    const sink = await HandlerSink.listen();
    this.#sinks.set(name, sink);
    const socket = { host: '127.0.0.1', port: sink.port };
    const handler = { metadata: { name, namespace: 'default' }, type: 'tcp', socket, filters };
    const { status, text } = await this.#api.put(`/ns/default/handlers/${name}`, handler);
    if (status !== 201) throw new Error(`PUT of handler ${name} answered ${status} ${text}`);
  }

  /** Returns the events that the handler has received, of one entity and check if given. */
  of(handler: string, entity?: string, check?: string): unknown[] {
    const sink = this.#sinks.get(handler);
    if (sink === undefined) throw new Error(`there is no handler ${handler}`);
    return sink.events
      .filter((event) => entity === undefined || at(event, 'entity', 'metadata', 'name') === entity)
      .filter((event) => check === undefined || at(event, 'check', 'metadata', 'name') === check);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sinks.values()].map((sink) => sink.close()));
  }
}
