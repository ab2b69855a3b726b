import { chmodSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { ExpectedError, InvalidResource } from '../../resources/errors.ts';
import { AlreadyInitialized } from '../../actors/administration/initial-resources.ts';
import type { FirstAdministrator } from '../init/initialise.ts';
import { listen } from './listen.ts';

const MAX_BODY_BYTES = 65_536;

/** The requests of the commands of `mon-backend` to the running backend. */
export interface ControlPorts {
  initialise(administrator: FirstAdministrator): Promise<void>;
}

/** Serves a socket that only the owner of the state directory can open. Resolves when it listens. */
export async function serveControl(path: string, ports: ControlPorts): Promise<Server> {
  rmSync(path, { force: true });
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) incoming.destroy();
      else chunks.push(chunk);
    });
    incoming.on('end', () => {
      void answer(incoming.url, Buffer.concat(chunks), ports).then(({ status, message }) => {
        outgoing.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' }).end(message);
      });
    });
  });
  await listen(server, { path });
  chmodSync(path, 0o600);
  return server;
}

async function answer(url: string | undefined, body: Buffer, ports: ControlPorts) {
  if (url !== '/init') return { status: 404, message: 'not found' };
  try {
    await ports.initialise(JSON.parse(body.toString()) as FirstAdministrator);
    return { status: 200, message: '' };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof AlreadyInitialized) return { status: 409, message };
    return { status: error instanceof ExpectedError ? 400 : 500, message };
  }
}

/** Requests the running backend to initialise its store. @throws AlreadyInitialized, InvalidResource, or the error of the connection */
export async function initialiseThrough(
  path: string,
  administrator: FirstAdministrator,
  timeoutMs: number,
): Promise<void> {
  const { status, message } = await new Promise<{ status: number; message: string }>((resolve, reject) => {
    const outgoing = request({ socketPath: path, path: '/init', method: 'POST', timeout: timeoutMs }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        resolve({ status: incoming.statusCode ?? 0, message: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('the backend did not answer in time')));
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify(administrator));
  });
  if (status === 409) throw new AlreadyInitialized(message);
  if (status === 400) throw new InvalidResource(message);
  if (status !== 200) throw new Error(message);
}
