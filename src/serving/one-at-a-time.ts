import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/**
 * Begins a connection's next request when the system has taken the response before it, or cannot send it any more. A client
 * that sends requests and reads no responses causes one response. Other connections are served between two requests that
 * arrived together.
 */
export function oneAtATime(answer: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, Connection>();
  return (request, response) => {
    const { socket } = request;
    const known = connections.get(socket);
    const connection = known ?? new Connection(socket, answer);
    if (known === undefined) connections.set(socket, connection);
    connection.take({ request, response });
  };
}

class Connection {
  readonly #socket: Socket;
  readonly #answer: RequestListener;
  /** Requests that arrived in one read of the socket, 64 KiB; the socket is not read while one waits. */
  readonly #waiting: Exchange[] = [];
  #isAnswering = false;

  constructor(socket: Socket, answer: RequestListener) {
    this.#socket = socket;
    this.#answer = answer;
    // The server resumes the socket after each request that it has parsed or answered.
    socket.on('resume', () => {
      if (this.#waiting.length > 0) socket.pause();
    });
    socket.once('close', () => {
      this.#waiting.length = 0;
    });
  }

  take(exchange: Exchange): void {
    if (!this.#isAnswering) {
      this.#begin(exchange);
      return;
    }
    this.#waiting.push(exchange);
    this.#socket.pause();
  }

  #begin({ request, response }: Exchange): void {
    this.#isAnswering = true;
    response.once('close', () => {
      this.#next();
    });
    this.#answer(request, response);
  }

  #next(): void {
    if (this.#waiting.length > 0) setImmediate(() => this.#beginNext());
    else this.#isAnswering = false;
  }

  #beginNext(): void {
    this.#isAnswering = false;
    if (!this.#socket.writable) this.#waiting.length = 0;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    // The rest of its body may not have arrived yet.
    if (this.#waiting.length === 0) this.#socket.resume();
    this.#begin(next);
  }
}
