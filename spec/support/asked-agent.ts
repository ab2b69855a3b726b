import { type AgentClient, jsonOf } from './agent-client.ts';
import { at } from './json-path.ts';
import { ReportingAgent } from './reporting-agent.ts';
import type { RestartableBackend } from './restartable-backend.ts';

/** What an agent was asked for. */
export interface Asked {
  check: string;
  command: string;
  /** Empty where the check is about the agent itself. */
  proxyEntity: string;
  /** Unix seconds. */
  issued: number;
  request: unknown;
}

/** An agent that takes part in rings, and notes what it is asked for. */
export class AskedAgent {
  readonly name: string;
  readonly #agent: ReportingAgent;
  #questions = 0;

  private constructor(agent: ReportingAgent) {
    this.name = agent.name;
    this.#agent = agent;
  }

  /** Registered and subscribed, with a lease that outlives the test. */
  static async register(backend: RestartableBackend, name: string, ...subscriptions: string[]): Promise<AskedAgent> {
    const asked = new AskedAgent(await ReportingAgent.connect(backend, name, { subscriptions }));
    await asked.keepalive(...subscriptions);
    while (asked.#socket.waitingFrames.length > 0) await asked.#socket.next('entity_config');
    return asked;
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

  /** Since the last question, in order. */
  async asked(): Promise<Asked[]> {
    this.#questions += 1;
    await this.#socket.ping(`question ${this.#questions}`);
    const asked: Asked[] = [];
    while (this.#socket.waitingFrames.length > 0) {
      const frame = await this.#socket.nextFrame();
      if (frame.type !== 'check_request') continue;
      const request = jsonOf(frame);
      asked.push({
        check: String(at(request, 'config', 'metadata', 'name')),
        command: String(at(request, 'config', 'command')),
        proxyEntity: String(at(request, 'config', 'proxy_entity_name')),
        issued: Number(at(request, 'issued')),
        request,
      });
    }
    return asked;
  }

  /** For how many checks. */
  async times(): Promise<number> {
    return (await this.asked()).length;
  }
}
