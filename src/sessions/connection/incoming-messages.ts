import type { WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';
import { isKeepalive } from '../../wire/frame.ts';
import type { ClosedConnections } from './closed-connections.ts';
import { HeldFrames } from './held-frames.ts';

/** Interval of unsolicited pongs while nothing is read; without them the agent would disconnect. */
const PAUSED_PONG_INTERVAL_MS = 10_000;

export interface IncomingMessagesPorts {
  socket: Pick<WebSocket, 'pause' | 'resume' | 'readyState' | 'OPEN'>;
  clock: Clock;
  /** Sends an unsolicited pong. */
  pong(): void;
  /** Whether senders must pause. */
  mustPause(): boolean;
  /** Whether the store is failing, so that not even keepalives can be processed. */
  isFailing(): boolean;
  decide(message: Buffer): void;
  /** Requests a call of `resume` once senders may continue. */
  awaitResume(): void;
  /** Whether the socket may be read, as far as others are concerned. They read on when that changes. */
  mayRead(): boolean;
  /** Keeps what is held when the socket closes. */
  closed: ClosedConnections;
  /** Held messages were dropped after the socket had closed. */
  dropped(messages: number): void;
}

/**
 * Messages of one agent before they are processed. While senders must pause, it holds messages up to a limit and then
 * stops reading the socket; keepalives are still processed. It also measures the silence of the agent, without the time
 * in which nothing was read.
 */
export class IncomingMessages {
  readonly #ports: IncomingMessagesPorts;
  readonly #held = new HeldFrames();
  #lastReceivedAtMs: number;
  #pausedAtMs: number | undefined;
  #cancelPong: (() => void) | undefined;
  #ended: (() => void) | undefined;

  constructor(ports: IncomingMessagesPorts) {
    this.#ports = ports;
    this.#lastReceivedAtMs = ports.clock.monotonicMs();
  }

  /** Whether reading has stopped. */
  get isPaused(): boolean {
    return this.#pausedAtMs !== undefined;
  }

  /** Number of held messages. */
  get held(): number {
    return this.#held.length;
  }

  silentMs(): number {
    const untilMs = this.#pausedAtMs ?? this.#ports.clock.monotonicMs();
    return Math.max(0, untilMs - this.#lastReceivedAtMs);
  }

  markReceived(): void {
    this.#lastReceivedAtMs = this.#ports.clock.monotonicMs();
  }

  receive(message: Buffer): void {
    if (this.#mustHold(message)) this.#hold(message);
    else this.#ports.decide(message);
  }

  #mustHold(message: Buffer): boolean {
    const { mustPause, isFailing } = this.#ports;
    if (this.#held.isEmpty && !mustPause()) return false;
    return isFailing() || !isKeepalive(message);
  }

  #hold(message: Buffer): void {
    this.#held.push(message);
    this.#ports.awaitResume();
    if (this.#held.isFull) this.pause();
  }

  /** Drops held messages and continues reading, so that a close frame is received. */
  discard(): void {
    this.#held.clear();
    this.#readOn();
  }

  /** Stops reading. The pause does not count as silence of the agent. */
  pause(): void {
    const { socket, clock, awaitResume } = this.#ports;
    if (this.#pausedAtMs !== undefined || socket.readyState !== socket.OPEN) return;
    this.#pausedAtMs = clock.monotonicMs();
    socket.pause();
    awaitResume();
    this.#pongWhilePaused();
  }

  /** Processes held messages while there is time, then continues reading. Returns false if that must wait, or senders must pause again. */
  resume(hasTime: () => boolean): boolean {
    if (this.#ports.mustPause()) return false;
    while (!this.#held.isEmpty) {
      if (this.#ports.mustPause() || !hasTime()) return false;
      const message = this.#held.shift();
      if (message !== undefined) this.#ports.decide(message);
    }
    this.#readOn();
    this.#ended?.();
    return true;
  }

  /** Must be called when the socket has closed. Calls `ended` when the held messages are processed or dropped. */
  end(ended: () => void): void {
    this.#cancelPong?.();
    if (this.#held.isEmpty) {
      ended();
      return;
    }
    const drop = (): void => {
      this.#ports.dropped(this.#held.length);
      this.#held.clear();
      this.#ended?.();
    };
    const release = this.#ports.closed.keep(this.#held.memoryBytes, drop);
    this.#ended = () => {
      this.#ended = undefined;
      release?.();
      ended();
    };
    if (release === undefined) drop();
  }

  /** Subtracts time in which the backend read nothing although it was not paused. */
  excuseSilence(ms: number): void {
    if (this.#pausedAtMs === undefined) this.#lastReceivedAtMs += ms;
  }

  #readOn(): void {
    if (this.#pausedAtMs === undefined) return;
    this.#lastReceivedAtMs += this.#ports.clock.monotonicMs() - this.#pausedAtMs;
    this.#pausedAtMs = undefined;
    this.#cancelPong?.();
    if (this.#ports.mayRead()) this.#ports.socket.resume();
  }

  #pongWhilePaused(): void {
    const { socket, clock, pong } = this.#ports;
    this.#cancelPong = clock.after(PAUSED_PONG_INTERVAL_MS, () => {
      if (this.#pausedAtMs === undefined || socket.readyState !== socket.OPEN) return;
      pong();
      this.#pongWhilePaused();
    });
  }
}
