import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { Log } from '../../ports/log.ts';

/** The size of the receive buffer that is requested from the system. Linux grants at most `net.core.rmem_max`. */
const RECEIVE_BUFFER_BYTES = 8 * 1024 * 1024;

export interface UdpSocketPorts {
  log: Log;
  /** Must not throw. */
  received(datagram: Buffer, address: string): void;
}

/** A UDP socket that keeps running whatever it receives. */
export class UdpSocket {
  readonly #ports: UdpSocketPorts;
  #socket: Socket | undefined;

  constructor(ports: UdpSocketPorts) {
    this.#ports = ports;
  }

  /** Returns the port. Rejects with the error of the system. */
  async listen(host: string, port: number): Promise<number> {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    socket.once('listening', () => enlargeBuffer(socket));
    socket.on('message', (datagram, { address }) => this.#ports.received(datagram, address));
    socket.bind({ address: host, port });
    await once(socket, 'listening');
    socket.on('error', (err) => this.#ports.log.error({ err }, 'UDP listener failed'));
    this.#socket = socket;
    return socket.address().port;
  }

  close(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }
}

/** A system that refuses the size keeps its own. */
function enlargeBuffer(socket: Socket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SOCKET_BUFFER_SIZE') throw error;
  }
}
