import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The system gives none of these to those who ask for any port. */
const FIRST_PORT = 20_000;
const BLOCKS = 30;
/** The first port of a block is held by the process that owns the block. */
const BLOCK_PORTS = 400;

let block: Promise<number> | undefined;
let given = 0;

/**
 * A port number that is free for TCP and UDP on loopback, and that stays free for its user: no other test process gives it, and this
 * one gives it again only after all the others of its block.
 */
export async function freePort(): Promise<number> {
  const first = await (block ??= ownBlock());
  for (;;) {
    const port = first + 1 + (given++ % (BLOCK_PORTS - 1));
    if ((await isFreeForTcp(port)) && (await isFreeForUdp(port))) return port;
  }
}

/** Returns the first port of a block that no other process owns. This process listens on that port until its end. */
async function ownBlock(): Promise<number> {
  for (let number = Math.floor(Math.random() * BLOCKS); ; number += 1) {
    const first = FIRST_PORT + (number % BLOCKS) * BLOCK_PORTS;
    const owner = createServer();
    if (await listens(owner, first)) {
      owner.unref();
      return first;
    }
  }
}

const listens = (server: ReturnType<typeof createServer>, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });

async function isFreeForTcp(port: number): Promise<boolean> {
  const server = createServer();
  if (!(await listens(server, port))) return false;
  server.close();
  await once(server, 'close');
  return true;
}

async function isFreeForUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  const isFree = await new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => resolve(true));
  });
  socket.close();
  return isFree;
}
