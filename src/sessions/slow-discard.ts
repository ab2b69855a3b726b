import type { Duplex } from 'node:stream';
import type { Clock } from '../ports/clock.ts';

/** Of what a peer still sends when its connection is being closed, so much is read at a time: whoever sent one message that is too large is not held up. */
const BYTES_AT_A_TIME = 16 * 1024 * 1024;
const PAUSE_MS = 500;

/**
 * While `isClosing`, what comes is read only to find the end of it, and a peer that does not stop must not keep the backend busy with that:
 * it is read at 32 MiB a second. To be called when somebody reads the socket.
 */
export function discardSlowly(socket: Duplex, isClosing: () => boolean, clock: Pick<Clock, 'after'>): void {
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    if (!isClosing()) return;
    bytes += chunk.length;
    if (bytes < BYTES_AT_A_TIME) return;
    bytes = 0;
    socket.pause();
    clock.after(PAUSE_MS, () => socket.resume());
  });
}
