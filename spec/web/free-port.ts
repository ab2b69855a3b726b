import { createServer } from 'node:http';
import { boundAddress, close, listen } from '../../src/main/serve/listen.ts';

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await listen(server, { host: '127.0.0.1', port: 0 });
  const { port } = boundAddress(server);
  await close(server);
  return port;
}
