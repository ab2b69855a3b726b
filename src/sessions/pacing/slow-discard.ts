import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';

/** Bytes discarded before a pause. A peer that sent a single oversized message is not delayed. */
const BYTES_BEFORE_PAUSE = 16 * 1024 * 1024;
const PAUSE_MS = 500;

/**
 * Limits reading from a peer whose connection is being closed to 32 MiB a second. The bytes are only searched for the
 * close frame. Must be called after `ws` has started reading the socket.
 *
 * The listener lives as long as the socket. Create it outside of any scope that refers to the request of the handshake, which would
 * stay in memory as long.
 */
export function discardSlowly(
  socket: Duplex,
  webSocket: Pick<WebSocket, 'readyState' | 'OPEN'>,
  clock: Pick<Clock, 'after'>,
): void {
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    if (webSocket.readyState === webSocket.OPEN) return;
    bytes += chunk.length;
    if (bytes < BYTES_BEFORE_PAUSE) return;
    bytes = 0;
    socket.pause();
    clock.after(PAUSE_MS, () => socket.resume());
  });
}
