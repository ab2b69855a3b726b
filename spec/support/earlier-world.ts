import type { ApiClient } from './api-client.ts';
import { EarlierClient } from './earlier-client.ts';
import { type Json, proxyEvent } from './example-events.ts';
import { HandlerSink } from './handler-sink.ts';
import { InProcessBackend, type InProcessOptions } from './in-process-backend.ts';

/** A backend with the namespaces `default` and `berlin`, an administrator, and clients of both listeners of the first generation. */
export class EarlierWorld {
  readonly backend: InProcessBackend;
  readonly admin: ApiClient;
  readonly core: EarlierClient;
  readonly dashboard: EarlierClient;
  #sink: HandlerSink | undefined;

  private constructor(backend: InProcessBackend, admin: ApiClient) {
    this.backend = backend;
    this.admin = admin;
    this.core = new EarlierClient(backend.earlierApiPort);
    this.dashboard = new EarlierClient(backend.dashboardPort);
  }

  static async start(options: InProcessOptions = {}): Promise<EarlierWorld> {
    const backend = await InProcessBackend.start(options);
    const admin = await backend.login();
    await admin.put('/api/core/v2/namespaces/berlin', { name: 'berlin' });
    return new EarlierWorld(backend, admin);
  }

  /** A client of port 4567, which changes when the backend starts again. */
  static reach(backend: InProcessBackend): EarlierClient {
    return new EarlierClient(backend.earlierApiPort);
  }

  /** Puts the result of a check by the REST API. */
  async result(namespace: string, entity: string, check: string, result: Json = {}): Promise<void> {
    const { nowS } = this.backend;
    const event = proxyEvent(entity, check, { executed: nowS, issued: nowS, ...result });
    const inNamespace = JSON.parse(
      JSON.stringify(event).replaceAll('"namespace":"default"', `"namespace":"${namespace}"`),
    ) as Json;
    const { status, text } = await this.admin.put(`/ns/${namespace}/events/${entity}/${check}`, inNamespace);
    if (status >= 300) throw new Error(`the result of ${entity}/${check} was answered with ${status} ${text}`);
  }

  /** Puts a check by the REST API. */
  async check(namespace: string, name: string, changes: Json = {}): Promise<void> {
    const check = {
      metadata: { name, namespace },
      command: 'true',
      interval: 60,
      subscriptions: ['web'],
      publish: false,
    };
    const { status, text } = await this.admin.put(`/ns/${namespace}/checks/${name}`, { ...check, ...changes });
    if (status !== 201) throw new Error(`the check ${name} was answered with ${status} ${text}`);
  }

  /** Creates a handler, and returns what receives its events. */
  async handler(namespace: string, name: string): Promise<HandlerSink> {
    const sink = (this.#sink ??= await HandlerSink.listen());
    const socket = { host: '127.0.0.1', port: sink.port };
    await this.admin.put(`/ns/${namespace}/handlers/${name}`, { metadata: { name, namespace }, type: 'tcp', socket });
    return sink;
  }

  async stop(): Promise<void> {
    this.core.close();
    this.dashboard.close();
    await this.#sink?.close();
    await this.backend.stop();
  }
}
