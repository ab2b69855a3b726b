import { once } from 'node:events';
import type { Server } from 'node:net';

/** Listens on a port of the loopback interface; a free one by default. */
export async function listenLocally(server: Server, port = 0): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

/** Returns the port on which the server listens, or 0 if it does not. */
export function portOf(server: Server): number {
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}
