import type { WebSocket } from 'ws';
import { FairReading } from '../pacing/fair-reading.ts';
import { WaitingMessages } from '../pacing/message-pacer.ts';
import { IncomingMessages } from './incoming-messages.ts';
import type { SessionPorts } from './session-ports.ts';

export interface IntakePorts extends Pick<
  SessionPorts,
  'clock' | 'messagePacer' | 'inOwnTick' | 'mustPause' | 'isFailing' | 'awaitResume' | 'closed'
> {
  socket: Pick<WebSocket, 'pause' | 'resume' | 'isPaused' | 'readyState' | 'OPEN'>;
  /** Sends an unsolicited pong. */
  pong(): void;
  decide(message: Buffer): void;
  /** Held messages were dropped after the socket had closed. */
  dropped(messages: number): void;
  /** Whether messages are discarded, because the session has ended. */
  isBroken(): boolean;
}

/** Reads one connection at the pace of the port: messages wait until the pacer processes them, and while senders must pause. */
export class Intake {
  readonly incoming: IncomingMessages;
  readonly #ports: IntakePorts;
  readonly #reading: FairReading;
  readonly #arrived: WaitingMessages;

  constructor(ports: IntakePorts) {
    const { socket, messagePacer } = ports;
    this.#ports = ports;
    this.incoming = new IncomingMessages({
      ...ports,
      decide: (message) => {
        // A held message may have ended the session.
        if (!ports.isBroken()) ports.decide(message);
      },
      mayRead: () => !this.#reading.isSlowed && this.#arrived.isEmpty,
    });
    const isPaused = (): boolean => this.incoming.isPaused || !this.#arrived.isEmpty;
    this.#reading = new FairReading({ ...ports, isPaused });
    this.#arrived = new WaitingMessages({
      pacer: messagePacer,
      process: (message) => {
        this.#process(message);
      },
      pause: () => {
        if (!socket.isPaused) socket.pause();
      },
      processed: () => {
        if (!this.incoming.isPaused && !this.#reading.isSlowed) socket.resume();
      },
    });
  }

  receive(message: Buffer): void {
    this.#reading.count();
    this.#arrived.receive(message);
  }

  /** Must be called for each ping and pong. */
  countControl(): void {
    this.#reading.count();
  }

  /** Must be called for each rejected message. */
  countRejected(): void {
    this.#reading.countRejected();
  }

  /** Calls `end` when all messages have been processed. No message may follow. */
  end(end: () => void): void {
    this.#arrived.end(() => {
      this.incoming.end(end);
    });
  }

  #process(message: Buffer): void {
    const { clock, isBroken } = this.#ports;
    if (isBroken()) {
      this.#reading.countRejected();
      return;
    }
    const beganAtMs = clock.monotonicMs();
    this.incoming.receive(message);
    this.#reading.recordDuration(clock.monotonicMs() - beganAtMs);
  }
}
