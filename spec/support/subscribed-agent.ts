import { type AgentClient, jsonOf } from './agent-client.ts';
import { at } from './json-path.ts';
import { ReportingAgent } from './reporting-agent.ts';
import type { RestartableBackend } from './restartable-backend.ts';

/** One check request as the agent received it. */
export interface ReceivedRequest {
  check: string;
  command: string;
  /** Empty if the check is about the agent itself. */
  proxyEntity: string;
  /** Unix seconds. */
  issued: number;
  request: unknown;
}

/** A registered agent with subscriptions, which returns the check requests that it receives. It runs no checks. */
export class SubscribedAgent {
  readonly name: string;
  readonly #agent: ReportingAgent;
  #pings = 0;

  private constructor(agent: ReportingAgent) {
    this.name = agent.name;
    this.#agent = agent;
  }

  /** Connects and registers an agent. Its keepalive timeout is longer than any test, so that it is never missing. */
  static async register(
    backend: RestartableBackend,
    name: string,
    ...subscriptions: string[]
  ): Promise<SubscribedAgent> {
    const agent = new SubscribedAgent(await ReportingAgent.connect(backend, name, { subscriptions }));
    await agent.keepalive(...subscriptions);
    while (agent.#socket.waitingFrames.length > 0) await agent.#socket.next('entity_config');
    return agent;
  }

  get #socket(): AgentClient {
    return this.#agent.socket;
  }

  keepalive(...subscriptions: string[]): Promise<void> {
    const entity = { subscriptions: [...subscriptions, `entity:${this.name}`] };
    return this.#agent.keepalive({ timeout: 1_000_000, entity });
  }

  leave(): Promise<void> {
    return this.#agent.vanish();
  }

  /** Returns the requests since the last call, in order. */
  async requests(): Promise<ReceivedRequest[]> {
    this.#pings += 1;
    await this.#socket.ping(`ping ${this.#pings}`);
    const received: ReceivedRequest[] = [];
    while (this.#socket.waitingFrames.length > 0) {
      const frame = await this.#socket.nextFrame();
      if (frame.type !== 'check_request') continue;
      const request = jsonOf(frame);
      received.push({
        check: String(at(request, 'config', 'metadata', 'name')),
        command: String(at(request, 'config', 'command')),
        proxyEntity: String(at(request, 'config', 'proxy_entity_name')),
        issued: Number(at(request, 'issued')),
        request,
      });
    }
    return received;
  }

  /** Sends a result for each request since the last call. Returns their number. */
  async answer(): Promise<number> {
    const requests = await this.requests();
    for (const request of requests) await this.report(request);
    return requests.length;
  }

  /** Sends the result of a request. */
  async report({ check, issued, proxyEntity }: ReceivedRequest): Promise<void> {
    await this.#agent.result(check, { issued, proxy_entity_name: proxyEntity });
  }

  /** Returns the number of requests since the last call. */
  async requestCount(): Promise<number> {
    return (await this.requests()).length;
  }
}
