import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { listenLocally, portOf } from '../support/local-server.ts';

/** What a bad network does to TCP: it shows as delays, because TCP sends lost segments again. */
export interface Weather {
  /** The delay of each piece of data in each direction. */
  delayMs: number;
  /** The share of pieces that are lost, and sent again after the next of `RETRANSMISSIONS_MS`, each time with the same chance. */
  loss: number;
}

const CLEAR: Weather = { delayMs: 0, loss: 0 };
/** The timeouts of TCP double. */
const RETRANSMISSIONS_MS = [200, 400, 800, 1_600, 3_200];

/** A TCP proxy of a local port through a network with delay and loss. Data stays in order. */
export class LossyProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #random: () => number;
  #weather = CLEAR;

  private constructor(server: Server, port: number, random: () => number) {
    this.#server = server;
    this.#random = random;
    server.on('connection', (near) => {
      const far = connect({ port, host: '127.0.0.1' });
      this.#forward(near, far);
      this.#forward(far, near);
    });
  }

  static async to(port: number, random: () => number): Promise<LossyProxy> {
    const server = createServer();
    const proxy = new LossyProxy(server, port, random);
    await listenLocally(server);
    return proxy;
  }

  get port(): number {
    return portOf(this.#server);
  }

  worsen(weather: Weather): void {
    this.#weather = weather;
  }

  heal(): void {
    this.#weather = CLEAR;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #forward(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    let last = Promise.resolve();
    const later = (deliver: () => void): void => {
      const arrivesMs = performance.now() + this.#travelMs();
      last = last.then(async () => {
        await delay(Math.max(0, arrivesMs - performance.now()));
        deliver();
      });
    };
    from.on('data', (piece) => later(() => to.write(piece)));
    from.on('end', () => later(() => to.end()));
    from.on('error', () => to.destroy());
    from.on('close', () => this.#sockets.delete(from));
  }

  #travelMs(): number {
    const { delayMs, loss } = this.#weather;
    let travelMs = delayMs;
    for (const timeoutMs of RETRANSMISSIONS_MS) {
      if (this.#random() >= loss) break;
      travelMs += timeoutMs;
    }
    return travelMs;
  }
}
