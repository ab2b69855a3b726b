import { once } from 'node:events';
import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { inTime } from './eventually.ts';

export interface EarlierAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  json: unknown;
}

export interface EarlierSend {
  method: string;
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  text?: string;
  headers?: Record<string, string>;
}

/** A client of the API of the first generation. It sends paths as they are. */
export class EarlierClient {
  readonly #port: number;
  readonly #connections = new Agent({ keepAlive: true });

  constructor(port: number) {
    this.#port = port;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<EarlierAnswer> {
    return this.send({ method: 'GET', path, headers });
  }

  post(path: string, body: unknown): Promise<EarlierAnswer> {
    return this.send({ method: 'POST', path, body });
  }

  delete(path: string): Promise<EarlierAnswer> {
    return this.send({ method: 'DELETE', path });
  }

  send({
    method,
    path,
    body,
    text = body === undefined ? undefined : JSON.stringify(body),
    headers = {},
  }: EarlierSend) {
    return new Promise<EarlierAnswer>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, method, path, agent: this.#connections, headers };
      const sent = request(options, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const received = Buffer.concat(chunks).toString();
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: received,
            json: parsed(received),
          });
        });
      });
      sent.on('error', reject);
      sent.end(text);
    });
  }

  /** Sends bytes on a connection of their own, and returns what is received until its end as the text. */
  async sendBytes(bytes: string): Promise<EarlierAnswer> {
    const socket = connect(this.#port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.end(bytes);
    await inTime(once(socket, 'close'), 'the end of the connection');
    return { status: 0, headers: {}, text: Buffer.concat(chunks).toString(), json: undefined };
  }

  close(): void {
    this.#connections.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
