import { InvalidResource } from '../../resources/errors.ts';
import { parseResults } from './first-generation-result.ts';
import { type SocketPorts, TcpSocket } from './tcp-socket.ts';
import { UdpSocket } from './udp-socket.ts';

const BLANK_OR_PING = /^\s*(?:ping)?\s*$/;

export interface SocketSettings {
  readonly isEnabled: boolean;
  readonly host: string;
  /** The port of both sockets. */
  readonly port: number;
}

/**
 * The TCP and the UDP socket, which receive results in the format of the first generation. The agent continues without
 * them.
 */
export class Sockets {
  readonly #settings: SocketSettings;
  readonly #ports: SocketPorts;
  readonly #tcp: TcpSocket;
  readonly #udp: UdpSocket;
  #invalid = 0;

  constructor(settings: SocketSettings, ports: SocketPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#tcp = new TcpSocket(ports);
    this.#udp = new UdpSocket({ log: ports.log, received: (datagram) => this.#receive(datagram) });
  }

  async start(): Promise<void> {
    const { host, port } = this.#settings;
    const { log } = this.#ports;
    try {
      const udpPort = await this.#udp.listen(host, port);
      log.info({}, `starting UDP listener on address: ${host}:${udpPort}`);
      // Both have the same number, also when the system chooses it.
      const tcpPort = await this.#tcp.listen(host, udpPort);
      log.info({}, `starting TCP listener on address: ${host}:${tcpPort}`);
    } catch (err) {
      log.error({ err, flags: ['socket-host', 'socket-port'] }, 'unable to start socket listeners');
    }
  }

  async stop(): Promise<void> {
    this.#udp.close();
    this.#tcp.close();
  }

  #receive(datagram: Buffer): void {
    if (datagram.length < 64 && BLANK_OR_PING.test(datagram.toString('latin1'))) return;
    try {
      const events = parseResults(datagram);
      if (events === undefined) throw new InvalidResource('the result is incomplete');
      this.#ports.accept(events);
    } catch (error) {
      if (!(error instanceof InvalidResource)) throw error;
      this.#invalid += 1;
      // One line for each power of ten, because datagrams can be many.
      if (Number.isInteger(Math.log10(this.#invalid))) {
        this.#ports.log.error({ error: error.message, count: this.#invalid }, 'UDP socket received an invalid result');
      }
    }
  }
}
