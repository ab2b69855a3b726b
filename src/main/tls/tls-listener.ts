import { constants } from 'node:crypto';
import type { ServerOptions } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from '../../config/parsing/flags.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { leafOf } from './tls-files.ts';
import { TlsServer } from './tls-server.ts';
import { contextOf, type ServerMaterial } from './tls-server-material.ts';
import type { TLS_TERMS } from './tls-terms.ts';

/** The interval of reads. A change takes effect when two reads find the same files, because a certificate and its key are written one after the other. */
const READ_INTERVAL_MS = 15_000;

/** The content of the files, or the reason why they cannot be used. */
type Found = ServerMaterial | string;

interface ListenerTlsPorts {
  /** Reads and validates the files. @throws ConfigError */
  read(): ServerMaterial;
  terms: typeof TLS_TERMS;
  clock: Clock;
  log: Log;
}

/** The TLS of one listener. New certificates apply to new connections; the old ones stay in use while the new ones are not valid. */
export class ListenerTls {
  readonly #ports: ListenerTlsPorts;
  readonly #servers: TlsServer[] = [];
  #used: ServerMaterial;
  /** The content that `#apply` received last. */
  #applied: Found;
  /** The content that the last scheduled read found. */
  #seen: Found;
  #cancelRead: () => void;

  /** @throws ConfigError */
  constructor(ports: ListenerTlsPorts) {
    this.#ports = ports;
    this.#used = ports.read();
    this.#applied = this.#seen = this.#used;
    this.#cancelRead = this.#scheduleRead();
  }

  /** Creates a server. When authorities for clients are configured, it closes connections without a valid client certificate. */
  createServer(options: ServerOptions): TlsServer {
    const asksClients = this.#used.ca !== undefined;
    const tlsOptions = { ...this.#context(), requestCert: asksClients, rejectUnauthorized: asksClients };
    const server = new TlsServer({ ...options, ...tlsOptions }, this.#ports.clock);
    this.#servers.push(server);
    return server;
  }

  /** Reads the files now. */
  reload(): void {
    this.#apply(this.#tryRead());
  }

  stop(): void {
    this.#cancelRead();
  }

  #scheduleRead(): () => void {
    return this.#ports.clock.after(READ_INTERVAL_MS, () => {
      this.#cancelRead = this.#scheduleRead();
      const found = this.#tryRead();
      const isSettled = isDeepStrictEqual(found, this.#seen);
      this.#seen = found;
      if (isSettled && !isDeepStrictEqual(found, this.#applied)) this.#apply(found);
    });
  }

  #tryRead(): Found {
    try {
      return this.#ports.read();
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
  }

  #apply(found: Found): void {
    const { log } = this.#ports;
    this.#applied = found;
    if (typeof found === 'string') {
      log.error({ error: found }, 'certificates cannot be used, the previous ones stay in use');
      return;
    }
    this.#used = found;
    for (const server of this.#servers) server.setSecureContext(this.#context());
    const { subject, validTo } = leafOf(found.cert);
    log.info({ subject, 'valid-to': validTo }, 'certificates loaded');
  }

  /** Client certificates disable session tickets: a resumed session would accept a certificate that was revoked or has expired since. */
  #context() {
    const secureOptions = this.#used.ca === undefined ? 0 : constants.SSL_OP_NO_TICKET;
    return { ...this.#ports.terms, ...contextOf(this.#used), secureOptions };
  }
}
