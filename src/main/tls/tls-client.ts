import type { ClientTls } from '../../agent/agent.ts';
import type { TlsOptions } from '../../agent/connection/connection.ts';
import type { AgentTls } from '../../config/agent.ts';
import { ConfigError } from '../../config/parsing/flags.ts';
import type { Log } from '../../ports/log.ts';
import { type KeyPair, readCertificates, readKeyPair, together } from './tls-files.ts';
import { TLS_TERMS } from './tls-terms.ts';

/** The agent's trusted authorities and its own certificate. The files are read again for each attempt to connect. */
export class AgentTlsFiles implements ClientTls {
  readonly #config: AgentTls;
  readonly #log: Log;
  #used: TlsOptions;
  /** The error of the last read, if the files could not be used. */
  #lastError: string | undefined;
  #hasWarned = false;

  /** @throws ConfigError with all mistakes in the files */
  constructor(config: AgentTls, log: Log) {
    this.#config = config;
    this.#log = log;
    this.#used = this.#read();
  }

  /** Whether the agent authenticates with a certificate in place of a password. */
  get showsCertificate(): boolean {
    return this.#config.pair !== undefined;
  }

  /** Returns the options of the last usable files. Files that cannot be used are logged once. */
  options(): TlsOptions {
    try {
      this.#used = this.#read();
      this.#lastError = undefined;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (error.message !== this.#lastError) {
        this.#log.error({ error: error.message }, 'certificates cannot be used, the previous ones stay in use');
      }
      this.#lastError = error.message;
    }
    return this.#used;
  }

  /** The reference accepts such a key, so that agents with one keep working. */
  #warnOfKey(path: string, text: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#log.warn({ flag: 'key-file', path }, text);
  }

  #read(): TlsOptions {
    const { ca, pair, skipsVerification } = this.#config;
    const files = together<{ ca: string | undefined; pair: KeyPair | undefined }>({
      ca: () => ca && readCertificates(ca),
      pair: () => pair && readKeyPair(pair, (text) => this.#warnOfKey(pair.key.path, text)),
    });
    return {
      ...TLS_TERMS,
      ...(files.ca === undefined ? {} : { ca: files.ca }),
      ...files.pair,
      rejectUnauthorized: !skipsVerification,
    };
  }
}
