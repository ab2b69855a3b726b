import { createServer, request as httpRequest, type Server } from 'node:http';
import { once } from 'node:events';
import { listenLocally, portOf } from './local-server.ts';

export interface RecordedRequest {
  method: string;
  /** Path without the query. */
  path: string;
}

/** An HTTP proxy that records the requests it forwards. */
export class RequestRecorder {
  readonly requests: RecordedRequest[] = [];
  readonly #server: Server;

  private constructor(port: number) {
    this.#server = createServer((incoming, answer) => {
      const { method = '', url = '', headers } = incoming;
      this.requests.push({ method, path: url.split('?', 1)[0] ?? '' });
      const outgoing = httpRequest({ host: '127.0.0.1', port, method, path: url, headers }, (received) => {
        answer.writeHead(received.statusCode ?? 0, received.rawHeaders);
        received.pipe(answer);
      });
      outgoing.on('error', () => answer.destroy());
      incoming.pipe(outgoing);
    });
  }

  /** Starts a proxy of the server at `port`. */
  static async before(port: number): Promise<RequestRecorder> {
    const recorder = new RequestRecorder(port);
    await listenLocally(recorder.#server);
    return recorder;
  }

  get address(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
