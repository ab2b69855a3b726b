import type { WebSocket } from 'ws';
import type { Clock } from '../ports/clock.ts';
import { isKeepalive } from '../wire/frame.ts';
import { HeldFrames } from './held-frames.ts';

/** While nothing is read the agent hears a pong so often, or it would leave. */
const PAUSED_PONG_INTERVAL_MS = 10_000;

export interface IncomingPorts {
  socket: Pick<WebSocket, 'pause' | 'resume' | 'readyState' | 'OPEN'>;
  clock: Clock;
  /** Tells the agent that it is not forgotten. */
  pong(): void;
  /** Whether senders must pause. */
  mustPause(): boolean;
  /** Whether nothing can be decided, keepalives neither. */
  isFailing(): boolean;
  decide(message: Buffer): void;
  /** Something is held, or nothing is read: `resume` is to be called when senders may go on. */
  waits(): void;
}

/**
 * Messages of one agent on their way to a decision. While senders must pause so many are held, then the socket is read no more;
 * keepalives pass by them. Knows how long the agent has been silent: time in which nothing was read does not count.
 */
export class Incoming {
  readonly #ports: IncomingPorts;
  readonly #held = new HeldFrames();
  #heardAtMs: number;
  #pausedAtMs: number | undefined;

  constructor(ports: IncomingPorts) {
    this.#ports = ports;
    this.#heardAtMs = ports.clock.monotonicMs();
  }

  /** Whether the socket is not read. */
  get isPaused(): boolean {
    return this.#pausedAtMs !== undefined;
  }

  /** Messages that wait to be decided. */
  get held(): number {
    return this.#held.length;
  }

  silentMs(): number {
    const untilMs = this.#pausedAtMs ?? this.#ports.clock.monotonicMs();
    return Math.max(0, untilMs - this.#heardAtMs);
  }

  heard(): void {
    this.#heardAtMs = this.#ports.clock.monotonicMs();
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
    this.#ports.waits();
    if (this.#held.isFull) this.pause();
  }

  /** Forgets what is held, and reads on: nothing of it may be decided any more, but a close frame must be seen. */
  discard(): void {
    this.#held.clear();
    this.#readOn();
  }

  /** Stops reading; the silence that follows is ours, not the agent's. */
  pause(): void {
    const { socket, clock, waits } = this.#ports;
    if (this.#pausedAtMs !== undefined || socket.readyState !== socket.OPEN) return;
    this.#pausedAtMs = clock.monotonicMs();
    socket.pause();
    waits();
    this.#pongWhilePaused();
  }

  /** Decides what was held, then reads on. False when senders must pause again before that. */
  resume(): boolean {
    while (!this.#held.isEmpty) {
      if (this.#ports.mustPause()) return false;
      const message = this.#held.shift();
      if (message !== undefined) this.#ports.decide(message);
    }
    this.#readOn();
    return true;
  }

  /** Nothing was read for so long, although nobody asked to pause. */
  missed(ms: number): void {
    if (this.#pausedAtMs === undefined) this.#heardAtMs += ms;
  }

  #readOn(): void {
    if (this.#pausedAtMs === undefined) return;
    this.#heardAtMs += this.#ports.clock.monotonicMs() - this.#pausedAtMs;
    this.#pausedAtMs = undefined;
    this.#ports.socket.resume();
  }

  #pongWhilePaused(): void {
    const { socket, clock, pong } = this.#ports;
    clock.after(PAUSED_PONG_INTERVAL_MS, () => {
      if (this.#pausedAtMs === undefined || socket.readyState !== socket.OPEN) return;
      pong();
      this.#pongWhilePaused();
    });
  }
}
