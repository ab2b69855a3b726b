import { createReadStream } from 'node:fs';
import { get as getClear, type IncomingMessage } from 'node:http';
import { get as getSecure } from 'node:https';
import { type ConnectionOptions, createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../../config/parsing/flags.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

const FLAG = 'agent-auth-crl-urls';
/** Room for some hundred thousand revoked certificates. */
const MAX_LIST_BYTES = 10 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 10_000;
const REFRESH_EVERY_MS = 60 * 60_000;
const LIST = /-----BEGIN X509 CRL-----[^-]*-----END X509 CRL-----/g;
/** The first byte of a DER file. */
const SEQUENCE = 0x30;

interface RevocationPorts {
  /** The TLS options for servers of `https:` URLs. */
  tls: ConnectionOptions;
  clock: Clock;
  log: Log;
  /** Called when a list has changed. */
  changed(): void;
}

/** The lists of revoked certificates, fetched every hour. When a list cannot be fetched, the previous one stays in use. */
export class RevocationLists {
  readonly #urls: readonly string[];
  readonly #ports: RevocationPorts;
  readonly #stopped = new AbortController();
  /** The lists in PEM, by URL. */
  readonly #lists = new Map<string, readonly string[]>();
  #cancelRefresh = (): void => undefined;

  private constructor(urls: readonly string[], ports: RevocationPorts) {
    this.#urls = urls;
    this.#ports = ports;
  }

  /** Resolves when all lists are fetched. @throws ConfigError with every list that cannot be fetched */
  static async load(urls: readonly string[], ports: RevocationPorts): Promise<RevocationLists> {
    const lists = new RevocationLists(urls, ports);
    const errors = await lists.#fetchAll();
    if (errors.length > 0) throw new ConfigError(errors.map((error) => ({ flag: FLAG, rule: `${FLAG} ${error}` })));
    lists.#refreshLater();
    return lists;
  }

  get pem(): readonly string[] {
    return [...this.#lists.values()].flat();
  }

  /** Fetches the lists now and calls `changed` if one has changed. */
  async refresh(): Promise<void> {
    const before = this.pem.join();
    const errors = await this.#fetchAll();
    if (this.#stopped.signal.aborted) return;
    for (const error of errors) {
      this.#ports.log.error({ error }, 'could not fetch a list of revoked certificates, the previous one stays in use');
    }
    if (this.pem.join() !== before) this.#ports.changed();
  }

  stop(): void {
    this.#cancelRefresh();
    this.#stopped.abort();
  }

  #refreshLater(): void {
    if (this.#urls.length === 0) return;
    this.#cancelRefresh = this.#ports.clock.after(REFRESH_EVERY_MS, () => {
      void this.refresh().then(() => {
        if (!this.#stopped.signal.aborted) this.#refreshLater();
      });
    });
  }

  /** Returns an error text for each list that could not be fetched. */
  async #fetchAll(): Promise<string[]> {
    const outcomes = await Promise.all(this.#urls.map((url) => this.#fetch(url)));
    return outcomes.filter((error) => error !== undefined);
  }

  async #fetch(url: string): Promise<string | undefined> {
    const { tls, clock } = this.#ports;
    const late = new AbortController();
    const cancel = clock.after(FETCH_TIMEOUT_MS, () => {
      late.abort(new Error(`no list within ${FETCH_TIMEOUT_MS / 1_000} seconds`));
    });
    const signal = AbortSignal.any([late.signal, this.#stopped.signal]);
    try {
      this.#lists.set(url, pemOf(await bytesAt(new URL(url), tls, signal)));
      return undefined;
    } catch (error) {
      const reason: unknown = late.signal.aborted ? late.signal.reason : error;
      return `${withoutCredentials(url)}: ${reason instanceof Error ? reason.message : String(reason)}`;
    } finally {
      cancel();
    }
  }
}

function withoutCredentials(text: string): string {
  const url = new URL(text);
  [url.username, url.password] = ['', ''];
  return url.href;
}

async function bytesAt(url: URL, tls: ConnectionOptions, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of await streamOf(url, tls, signal)) {
    bytes += chunk.length;
    if (bytes > MAX_LIST_BYTES) throw new Error(`is larger than ${MAX_LIST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Opens the URL. Redirections are not followed. */
async function streamOf(url: URL, tls: ConnectionOptions, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
  if (url.protocol === 'file:') return createReadStream(fileURLToPath(url), { signal });
  const options = { agent: false, signal };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request =
      url.protocol === 'https:' ? getSecure(url, { ...tls, ...options }, resolve) : getClear(url, options, resolve);
    request.on('error', reject);
  });
  if (response.statusCode === 200) return response;
  response.destroy();
  throw new Error(`answered with status ${response.statusCode}`);
}

/** Converts a file in DER or PEM, with one list or several, to PEM texts. @throws Error if a list cannot be read */
function pemOf(bytes: Buffer): string[] {
  const isDer = bytes[0] === SEQUENCE;
  const lists = isDer ? [inPem(bytes)] : (bytes.toString('latin1').match(LIST) ?? []);
  if (lists.length === 0) throw new Error('is not a list of revoked certificates in DER or PEM');
  createSecureContext({ crl: lists });
  return lists;
}

const inPem = (der: Buffer): string =>
  `-----BEGIN X509 CRL-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END X509 CRL-----\n`;
