import { type AgentClient, jsonOf } from './agent-client.ts';
import { checkEvent, keepalive } from './example-events.ts';
import { at } from './json-path.ts';

const POLL_MS = 20;
const KEEPALIVE_MS = 20_000;

/** An agent on a real socket that answers each check request at once, until it leaves. */
export class AnsweringAgent {
  readonly name: string;
  answered = 0;
  readonly #socket: AgentClient;
  readonly #subscriptions: readonly string[];
  readonly #poll: NodeJS.Timeout;
  readonly #keepalives: NodeJS.Timeout;

  private constructor(name: string, subscriptions: readonly string[], socket: AgentClient) {
    this.name = name;
    this.#socket = socket;
    this.#subscriptions = subscriptions;
    this.#keepalive();
    this.#keepalives = setInterval(() => {
      this.#keepalive();
    }, KEEPALIVE_MS);
    this.#poll = setInterval(() => void this.#answer(), POLL_MS);
  }

  static async connect(
    backend: { connect(options: object): Promise<AgentClient> },
    name: string,
    ...subscriptions: string[]
  ): Promise<AnsweringAgent> {
    return new AnsweringAgent(name, subscriptions, await backend.connect({ name, subscriptions }));
  }

  leave(): void {
    clearInterval(this.#poll);
    clearInterval(this.#keepalives);
    if (this.#socket.isOpen) this.#socket.terminate();
  }

  #keepalive(): void {
    const entity = { subscriptions: [...this.#subscriptions, `entity:${this.name}`] };
    if (this.#socket.isOpen) this.#socket.send('keepalive', keepalive(this.name, { entity }));
  }

  async #answer(): Promise<void> {
    while (this.#socket.waitingFrames.length > 0 && this.#socket.isOpen) {
      const frame = await this.#socket.nextFrame();
      if (frame.type !== 'check_request') continue;
      const request = jsonOf(frame);
      const check = String(at(request, 'config', 'metadata', 'name'));
      const interval = Number(at(request, 'config', 'interval'));
      this.#socket.send('event', checkEvent(this.name, check, { issued: Number(at(request, 'issued')), interval }));
      this.answered += 1;
    }
  }
}
