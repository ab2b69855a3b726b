import { connect, type Socket } from 'node:net';
import { agentHeaders } from '../support/agent-client.ts';
import { eventually } from '../support/eventually.ts';

const UPGRADE_LINES = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** A connection on which a test writes raw bytes. It answers nothing. */
export class RawAgent {
  readonly #socket: Socket;
  #received = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => (this.#received += text));
    socket.on('error', () => undefined);
  }

  static connect(port: number): Promise<RawAgent> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.setNoDelay(true);
        resolve(new RawAgent(socket));
      });
      socket.once('error', reject);
    });
  }

  handshake(name: string): void {
    const headers = Object.entries(agentHeaders({ name })).map(([key, value]) => `${key}: ${value}`);
    this.#socket.write(`${['GET / HTTP/1.1', 'Host: localhost', ...headers, ...UPGRADE_LINES].join('\r\n')}\r\n\r\n`);
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** The answer to the handshake; undefined until it is complete. */
  get answer(): { status: number; head: string } | undefined {
    const [head, rest] = this.#received.split('\r\n\r\n', 2);
    if (head === undefined || rest === undefined) return undefined;
    return { status: Number(head.split(' ')[1]), head };
  }

  status(): Promise<number | undefined> {
    return eventually(
      () => this.answer?.status,
      (status) => status !== undefined,
      { what: 'an answer to the handshake', withinMs: 10_000 },
    );
  }

  /** The number of received configurations. */
  get configurations(): number {
    return this.#received.split('entity_config\n').length - 1;
  }

  /** The number of received empty pongs. */
  get pongs(): number {
    return this.#received.split('\u008a\u0000').length - 1;
  }

  /** The number of received close frames with the reason `bye`. */
  get closeFrames(): number {
    return this.#received.split('\u0088\u0005\u0003\u00e9bye').length - 1;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  cut(): void {
    this.#socket.destroy();
  }
}
