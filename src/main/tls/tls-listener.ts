import { constants } from 'node:crypto';
import type { ServerOptions } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from '../../config/flags.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { leafOf } from './tls-files.ts';
import { TlsServer } from './tls-server.ts';
import { contextOf, type ServerMaterial } from './tls-server-material.ts';
import { TLS_TERMS } from './tls-terms.ts';

/** A change takes effect when two reads find the same files: a certificate and its key are rarely written at once. */
const LOOK_EVERY_MS = 15_000;
const HANDSHAKE_TIMEOUT_MS = 15_000;

/** What was found in the files, or why they cannot be used. */
type Found = ServerMaterial | string;

interface ListenerTlsPorts {
  /** Reads and validates the files. @throws ConfigError */
  read(): ServerMaterial;
  clock: Clock;
  log: Log;
}

/** The TLS of one listener. New certificates apply to new connections; the old ones stay in use while the new ones are not valid. */
export class ListenerTls {
  readonly #ports: ListenerTlsPorts;
  readonly #servers: TlsServer[] = [];
  #used: ServerMaterial;
  /** What the last decision was about. */
  #judged: Found;
  #seen: Found;
  #cancelLook: () => void;

  /** @throws ConfigError */
  constructor(ports: ListenerTlsPorts) {
    this.#ports = ports;
    this.#used = ports.read();
    this.#judged = this.#seen = this.#used;
    this.#cancelLook = this.#lookLater();
  }

  /** Requires certificates of clients when authorities for them are configured; connections without a valid one are closed. */
  createServer(options: ServerOptions): TlsServer {
    const asksClients = this.#used.ca !== undefined;
    const server = new TlsServer({
      ...options,
      ...this.#context(),
      requestCert: asksClients,
      rejectUnauthorized: asksClients,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    });
    this.#servers.push(server);
    return server;
  }

  /** Reads the files now. */
  reload(): void {
    this.#judge(this.#find());
  }

  stop(): void {
    this.#cancelLook();
  }

  #lookLater(): () => void {
    return this.#ports.clock.after(LOOK_EVERY_MS, () => {
      this.#cancelLook = this.#lookLater();
      const found = this.#find();
      const isSettled = isDeepStrictEqual(found, this.#seen);
      this.#seen = found;
      if (isSettled && !isDeepStrictEqual(found, this.#judged)) this.#judge(found);
    });
  }

  #find(): Found {
    try {
      return this.#ports.read();
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
  }

  #judge(found: Found): void {
    const { log } = this.#ports;
    this.#judged = found;
    if (typeof found === 'string') {
      log.error({ error: found }, 'certificates cannot be used, the ones before stay in use');
      return;
    }
    this.#used = found;
    for (const server of this.#servers) server.setSecureContext(this.#context());
    const { subject, validTo } = leafOf(found.cert);
    log.info({ subject, 'valid-to': validTo }, 'certificates loaded');
  }

  /** A session that is resumed would bring a certificate back that has been revoked or has expired meanwhile. */
  #context() {
    const secureOptions = this.#used.ca === undefined ? 0 : constants.SSL_OP_NO_TICKET;
    return { ...TLS_TERMS, ...contextOf(this.#used), secureOptions };
  }
}
