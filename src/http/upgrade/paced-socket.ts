import type { WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';

/** The bytes of messages that the peer has not received yet; a peer that falls behind further is disconnected. */
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;
const HEARTBEAT_MS = 30_000;
/** The interval of the permission check. A logout, a new password, a deleted key or a disabled user ends a connection within a second. Source: spec/07, A9. */
const ACCESS_CHECK_MS = 1_000;
/** The time between the close frame and the cut of the connection. */
const CLOSE_GRACE_MS = 10_000;

export interface PacedSocketPorts {
  clock: Clock;
  /** Called every second. When it returns false, the connection is closed. */
  isAllowed(): boolean;
}

/** Sends messages to one open WebSocket at the pace of its peer. Messages from the peer are ignored. */
export class PacedSocket {
  readonly #webSocket: WebSocket;
  readonly #ports: PacedSocketPorts;
  #queued = 0;
  #drained: (() => void) | undefined;
  #isClosing = false;
  #answered = true;
  #cancelBeat: () => void;
  #cancelCheck: () => void;
  #cancelCut: (() => void) | undefined;
  #ended: (() => void) | undefined;

  constructor(webSocket: WebSocket, ports: PacedSocketPorts) {
    this.#webSocket = webSocket;
    this.#ports = ports;
    this.#cancelBeat = this.#beat();
    this.#cancelCheck = this.#check();
    webSocket.on('pong', () => {
      this.#answered = true;
    });
    webSocket.on('close', () => {
      this.#end();
      this.#cancelCut?.();
    });
    // It closes the connection itself, with `close`.
    webSocket.on('error', () => undefined);
  }

  /** Sends one message. Never throws. */
  send(text: string): void {
    if (this.#isClosing) return;
    if (this.#webSocket.bufferedAmount + Buffer.byteLength(text) > MAX_QUEUED_BYTES) {
      this.close(1013, 'messages are not read fast enough');
      return;
    }
    this.#queued += 1;
    this.#webSocket.send(text, () => {
      this.#queued -= 1;
      if (this.#queued === 0) this.#drained?.();
    });
  }

  /** Resolves when all sent messages have left the process, or the peer has disconnected. */
  drained(): Promise<void> {
    if (this.#isClosing || this.#queued === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  /** Ends the messages after an error, which the caller has logged. */
  fail(): void {
    this.close(1011, 'internal error');
  }

  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#end();
    this.#webSocket.close(code, reason);
    this.#cancelCut = this.#ports.clock.after(CLOSE_GRACE_MS, () => {
      this.#webSocket.terminate();
    });
  }

  /** Calls the listener once when no more messages are sent: at once if that is so already. The peer may not have received the close frame yet. */
  onEnd(ended: () => void): void {
    if (this.#isClosing) ended();
    else this.#ended = ended;
  }

  #end(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#cancelBeat();
    this.#cancelCheck();
    this.#drained?.();
    this.#ended?.();
  }

  #beat(): () => void {
    return this.#ports.clock.after(HEARTBEAT_MS, () => {
      if (!this.#answered) {
        this.#webSocket.terminate();
        return;
      }
      this.#answered = false;
      this.#webSocket.ping();
      this.#cancelBeat = this.#beat();
    });
  }

  #check(): () => void {
    return this.#ports.clock.after(ACCESS_CHECK_MS, () => {
      if (this.#ports.isAllowed()) this.#cancelCheck = this.#check();
      else this.close(1008, 'no longer allowed');
    });
  }
}
