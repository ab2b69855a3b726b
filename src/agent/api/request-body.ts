import type { IncomingMessage } from 'node:http';
import { Overloaded } from '../../resources/errors.ts';
import type { ByteBudget } from '../queue/byte-budget.ts';

/** The maximum size of the body of a posted event, bytes. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

export class BodyTooLarge extends Error {
  constructor() {
    super(`the event must have at most ${MAX_BODY_BYTES} bytes`);
  }
}

/**
 * Reads a body. Rejects with BodyTooLarge, or with Overloaded when the budget has no room for it, but only after the
 * whole body has arrived, because a client that still sends would not see the answer. The time limit of requests bounds
 * that wait. Also rejects with errors of the connection.
 */
export function readBody(request: IncomingMessage, budget: ByteBudget): Promise<Buffer> {
  let taken = 0;
  const read = new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (error: Error): void => {
      chunks.length = 0;
      request.removeAllListeners('data').removeAllListeners('end').resume();
      request.once('end', () => reject(error));
    };
    request.once('error', reject);
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
      refuse(new BodyTooLarge());
      return;
    }
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) {
        refuse(new BodyTooLarge());
      } else if (budget.take(chunk.length)) {
        taken += chunk.length;
        chunks.push(chunk);
      } else {
        refuse(new Overloaded('too many events are being received'));
      }
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
  });
  return read.finally(() => budget.give(taken));
}
