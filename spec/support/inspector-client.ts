import { createWebSocketReceiver } from '@statelyai/inspect';
import { WebSocket } from 'ws';
import { type CloseFrame, onceRefused } from './agent-client.ts';
import type { ApiClient } from './api-client.ts';
import { eventually, inTime } from './eventually.ts';
import { at } from './json-path.ts';
import type { StateValue } from 'xstate';
import { pathOf } from '../machines/state-paths.ts';

export type InspectMessage = Record<string, unknown>;

export interface InspectQuery {
  ticket?: string;
  actors?: readonly string[];
  since?: string;
}

/** Requests a ticket for this user. */
export async function ticketOf(user: ApiClient): Promise<string> {
  const { status, json } = await user.post('/api/mon/v1/tickets', undefined);
  const ticket = at(json, 'ticket');
  if (status !== 201 || typeof ticket !== 'string') throw new Error(`the request of a ticket answered ${status}`);
  return ticket;
}

export function inspectUrl(
  port: number,
  { ticket, actors = [], since }: InspectQuery,
  path = '/debug/inspect',
): string {
  const query = new URLSearchParams();
  if (ticket !== undefined) query.set('ticket', ticket);
  if (since !== undefined) query.set('since', since);
  for (const actor of actors) query.append('actor', actor);
  return `ws://127.0.0.1:${port}${path}?${query.toString()}`;
}

/** Collects the messages that the receiver of `@statelyai/inspect` gets from `url`. The socket stays open until the backend closes it. */
export function receiveMessages(url: string): InspectMessage[] {
  const messages: InspectMessage[] = [];
  createWebSocketReceiver({ server: url }).subscribe((message) => messages.push({ ...message }));
  return messages;
}

/** Summarises each message: its type, and the event's type and the state if it has them. */
export function outline(messages: readonly InspectMessage[]): string[] {
  return messages.map((message) => {
    const value = at(message, 'snapshot', 'value') as StateValue | undefined;
    const words = [message['type'], at(message, 'event', 'type'), value && pathOf(value)];
    return words.flatMap((word) => (typeof word === 'string' ? [word.replace('@xstate.', '')] : [])).join(' ');
  });
}

/** A plain WebSocket client of `/debug/inspect`. */
export class InspectorClient {
  readonly messages: InspectMessage[] = [];
  readonly socket: WebSocket;
  #close: CloseFrame | undefined;

  private constructor(url: string) {
    this.socket = new WebSocket(url, { perMessageDeflate: false });
    this.socket.on('message', (data) => this.messages.push(JSON.parse((data as Buffer).toString()) as InspectMessage));
    this.socket.on('close', (code, reason) => {
      this.#close = { code, reason: reason.toString() };
    });
  }

  /** @throws HandshakeRefused */
  static async connect(url: string): Promise<InspectorClient> {
    const client = new InspectorClient(url);
    const { socket } = client;
    const opened = new Promise<InspectorClient>((resolve, reject) => {
      socket.once('open', () => {
        resolve(client);
      });
      onceRefused(socket, reject);
    });
    return inTime(opened, 'an open inspector');
  }

  get lastSeq(): string {
    return String(this.messages.at(-1)?.['seq']);
  }

  async has(count: number): Promise<InspectMessage[]> {
    return eventually(
      () => this.messages,
      ({ length }) => length >= count,
      { what: `${count} messages of the inspector` },
    );
  }

  async closed(): Promise<CloseFrame> {
    await eventually(() => this.#close !== undefined, Boolean, { what: 'the end of the inspector' });
    return this.#close ?? { code: 0, reason: '' };
  }

  async leave(): Promise<void> {
    this.socket.close();
    await this.closed();
  }
}
