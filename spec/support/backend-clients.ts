import { AgentClient, type AgentOptions } from './agent-client.ts';
import { ApiClient } from './api-client.ts';

export interface BackendPorts {
  readonly apiPort: number;
  readonly agentPort: number;
}

/** All clients of one backend in a test; they are disconnected together. */
export class BackendClients {
  readonly #ports: BackendPorts;
  readonly #agents: AgentClient[] = [];
  readonly #users: ApiClient[] = [];

  constructor(ports: BackendPorts) {
    this.#ports = ports;
  }

  /** Logs in as the administrator of the tests. */
  async login(): Promise<ApiClient> {
    const user = await ApiClient.login(this.#ports.apiPort);
    this.#users.push(user);
    return user;
  }

  /** @throws HandshakeRefused */
  async connect(options: AgentOptions): Promise<AgentClient> {
    const agent = await AgentClient.connect(this.#ports.agentPort, options);
    this.#agents.push(agent);
    return agent;
  }

  drop(): void {
    for (const agent of this.#agents.splice(0)) agent.terminate();
    for (const user of this.#users.splice(0)) user.close();
  }
}
