import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const RETRY_AFTER_S = 1;

/** The answer to requests on API connections above the bound: 503 in JSON, after which the connection is closed. */
export class ConnectionRefusal {
  readonly #body: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(limit: number) {
    const message = `too many connections: the API accepts ${limit} at a time (--api-max-connections)`;
    this.#body = JSON.stringify({ message, code: 0 });
    this.#headers = {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(this.#body)),
      'X-Content-Type-Options': 'nosniff',
      'Retry-After': String(RETRY_AFTER_S),
      Connection: 'close',
    };
  }

  /** Answers when the request has been read, because closing the connection earlier could lose the answer. */
  answer(request: IncomingMessage, response: ServerResponse): void {
    const answer = (): void => {
      response.writeHead(503, this.#headers).end(this.#body);
    };
    request.resume();
    if (request.complete) answer();
    else request.once('end', answer);
  }

  /** Answers a request for another protocol. */
  answerUpgrade(socket: Duplex): void {
    const headers = Object.entries(this.#headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 503 Service Unavailable\r\n${headers.join('')}\r\n${this.#body}`, () => {
      socket.destroy();
    });
  }
}
