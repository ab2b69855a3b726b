import type { Clock } from '../ports/clock.ts';

const PING_INTERVAL_MS = 30_000;
const PONG_TIMEOUT_MS = 45_000;

interface Peer {
  ping(): void;
  /** No pong arrived in time. */
  lost(): void;
}

/** Pings a backend and notices when it no longer answers. Only pongs count: data may come from a broken half. */
export class Heartbeat {
  readonly #peer: Peer;
  readonly #clock: Clock;
  #cancelPing = (): void => undefined;
  #cancelDeadline = (): void => undefined;

  constructor(peer: Peer, clock: Clock) {
    this.#peer = peer;
    this.#clock = clock;
    this.#schedulePing();
    this.pong();
  }

  pong(): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#clock.after(PONG_TIMEOUT_MS, () => this.#peer.lost());
  }

  stop(): void {
    this.#cancelPing();
    this.#cancelDeadline();
  }

  #schedulePing(): void {
    this.#cancelPing = this.#clock.after(PING_INTERVAL_MS, () => {
      this.#peer.ping();
      this.#schedulePing();
    });
  }
}
