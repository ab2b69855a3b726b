import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { decodeFrame, encodeFrame } from '../../src/wire/frame.ts';
import { type AgentOptions, AGENT, agentHeaders } from '../support/agent-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { checkEvent, keepalive, proxyEvent } from '../support/example-events.ts';

/** Long enough that no check TTL expires in a round. */
export const TTL_S = 3_600;

/** The progress of one sender. The output of its only event contains a counter, so that the stored event shows the last one that was merged. */
export interface Progress {
  entity: string;
  check: string;
  sent: number;
  /** The highest number that was acknowledged as durable. */
  acknowledged: number;
}

const outputOf = (n: number): string => `number ${n}`;
export const numberIn = (output: unknown): number => Number(/^number (\d+)$/.exec(String(output))?.[1] ?? 0);

/** PUTs its event repeatedly. A number whose answer is 200 is acknowledged. */
export class HttpSender implements Progress {
  readonly entity: string;
  readonly check = 'http';
  sent = 0;
  acknowledged = 0;

  constructor(index: number) {
    this.entity = `proxy-${index}`;
  }

  /** Sends until the backend has ended. */
  async run(api: ApiClient): Promise<void> {
    try {
      for (;;) {
        this.sent += 1;
        const n = this.sent;
        const event = proxyEvent(this.entity, this.check, { status: 1, output: outputOf(n), ttl: TTL_S });
        const { status } = await api.put(`/ns/default/events/${this.entity}/${this.check}`, event);
        if (status === 200) this.acknowledged = n;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }
}

/** Sends numbered events like an agent with a queue: it sends an event that is not acknowledged again, with the same number. */
export class AgentSender implements Progress {
  readonly entity: string;
  readonly check = 'numbered';
  sent = 0;
  acknowledged = 0;
  readonly #options: AgentOptions;

  constructor(index: number) {
    this.entity = `agent-${index}`;
    this.#options = { name: this.entity, queueId: randomUUID(), credentials: AGENT };
  }

  /** Sends until the backend has ended, or until `until` events are acknowledged. */
  async run(port: number, until = Infinity): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, {
      headers: agentHeaders(this.#options),
      perMessageDeflate: false,
    });
    const gone = new Promise<void>((resolve) => {
      socket.once('close', () => {
        resolve();
      });
    });
    // After a reset the close code is 1006.
    socket.on('error', () => undefined);
    socket.once('open', () => {
      socket.send(encodeFrame('keepalive', JSON.stringify(keepalive(this.entity))));
      const unacknowledged = this.sent;
      for (let n = this.acknowledged + 1; n <= unacknowledged; n += 1) this.#send(socket, n);
      this.#fill(socket, until);
      if (this.acknowledged >= until) socket.close(1001);
    });
    socket.on('message', (message: Buffer) => {
      const { type, payload } = decodeFrame(message);
      if (type !== 'ack') return;
      this.acknowledged = Math.max(this.acknowledged, Number(payload.toString()));
      if (this.acknowledged >= until) socket.close(1001);
      else this.#fill(socket, until);
    });
    await gone;
  }

  #fill(socket: WebSocket, until: number): void {
    const window = 16;
    while (this.sent - this.acknowledged < window && this.sent < until) {
      this.sent += 1;
      this.#send(socket, this.sent);
    }
  }

  #send(socket: WebSocket, n: number): void {
    const event = checkEvent(this.entity, this.check, { status: 1, output: outputOf(n), ttl: TTL_S });
    socket.send(encodeFrame(`event ${n}`, JSON.stringify(event)));
  }
}
