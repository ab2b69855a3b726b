import type { Clock } from '../../ports/clock.ts';

export interface HeartbeatSettings {
  readonly intervalMs: number;
  /** Must exceed the interval. */
  readonly timeoutMs: number;
}

interface Peer {
  ping(): void;
  /** No pong has arrived in time. */
  lost(): void;
}

/**
 * Pings a backend and detects when it stops answering. Only pongs count, because data may still arrive on a half-open
 * connection.
 */
export class Heartbeat {
  readonly #peer: Peer;
  readonly #settings: HeartbeatSettings;
  readonly #clock: Clock;
  #cancelPing = (): void => undefined;
  #cancelDeadline = (): void => undefined;

  constructor(settings: HeartbeatSettings, peer: Peer, clock: Clock) {
    this.#settings = settings;
    this.#peer = peer;
    this.#clock = clock;
    this.#schedulePing();
    this.pong();
  }

  pong(): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#clock.after(this.#settings.timeoutMs, () => this.#peer.lost());
  }

  stop(): void {
    this.#cancelPing();
    this.#cancelDeadline();
  }

  #schedulePing(): void {
    this.#cancelPing = this.#clock.after(this.#settings.intervalMs, () => {
      this.#peer.ping();
      this.#schedulePing();
    });
  }
}
