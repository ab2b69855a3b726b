import { WebSocket } from 'ws';
import type { Inspection } from '../../actors/inspection/inspection.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ActorAddress } from '../../resources/actor-address.ts';
import { PacedSocket } from '../upgrade/paced-socket.ts';

const HANDSHAKE_TIMEOUT_MS = 15_000;
/** A relay forwards the messages of its other clients. */
const MAX_RECEIVED_BYTES = 1024 * 1024;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;
/** A connection that lasts this long resets the wait between attempts. */
const SETTLED_MS = 10_000;

export interface InspectRelayPorts {
  url: string;
  addresses: readonly ActorAddress[];
  inspection: Pick<Inspection, 'attach'>;
  clock: Clock;
  log: Log;
  /** Uniform in [0, 1). */
  random(): number;
}

/**
 * Keeps a connection to a developer's relay, as an ordinary client. Each connection begins with the current snapshots of the
 * actors, because a restarted relay has no state. Earlier messages are not repeated.
 */
export class InspectRelay {
  readonly #ports: InspectRelayPorts;
  #webSocket: WebSocket | undefined;
  #cancelRetry: (() => void) | undefined;
  #waitMs = FIRST_WAIT_MS;
  #isStopped = false;

  constructor(ports: InspectRelayPorts) {
    this.#ports = ports;
  }

  start(): void {
    const { url, addresses, inspection, clock, log } = this.#ports;
    const webSocket = new WebSocket(url, {
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_RECEIVED_BYTES,
      perMessageDeflate: false,
    });
    this.#webSocket = webSocket;
    let openedAtMs: number | undefined;
    webSocket.on('open', () => {
      log.info({}, 'connected to the inspector relay');
      openedAtMs = clock.monotonicMs();
      const reader = new PacedSocket(webSocket, { clock, isAllowed: () => true });
      reader.onEnd(inspection.attach(addresses, undefined, reader));
    });
    webSocket.on('error', (err) => {
      log.warn({ err }, 'inspector relay connection failed');
    });
    // `close` follows an error as well.
    webSocket.on('close', () => {
      if (openedAtMs !== undefined && clock.monotonicMs() - openedAtMs >= SETTLED_MS) this.#waitMs = FIRST_WAIT_MS;
      this.#retry();
    });
  }

  /** Disconnects. The relay cannot be started again. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelRetry?.();
    this.#webSocket?.terminate();
  }

  #retry(): void {
    if (this.#isStopped) return;
    const { clock, random } = this.#ports;
    this.#cancelRetry = clock.after(this.#waitMs * (0.5 + random() / 2), () => {
      this.start();
    });
    this.#waitMs = Math.min(this.#waitMs * 2, MAX_WAIT_MS);
  }
}
