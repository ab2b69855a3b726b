import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
const RSA = ['-newkey', 'rsa:2048'];
const DAY_MS = 86_400_000;

export interface CertificateRequest {
  /** Subject in the notation of openssl; the default common name is the file name. */
  subject?: string;
  /** Subject alternative names; empty for none. The default is `DNS:localhost,IP:127.0.0.1`. */
  names?: string;
  /** Validity in days from now; the default is -1 to 30. */
  validFrom?: number;
  validTo?: number;
  key?: 'ec' | 'rsa';
}

/** A certificate and its key, as file names and as PEM texts. */
export interface IssuedCertificate {
  certFile: string;
  keyFile: string;
  cert: string;
  key: string;
}

/** A certificate authority, managed by `openssl ca` below `parent`. The caller removes `parent`. */
export class CertificateAuthority {
  readonly certFile: string;
  readonly #directory: string;
  readonly #keyFile: string;
  readonly #config: string;

  constructor(parent: string, name: string) {
    this.#directory = join(parent, name);
    mkdirSync(this.#directory);
    this.certFile = join(this.#directory, 'ca.pem');
    this.#keyFile = join(this.#directory, 'ca.key');
    this.#config = join(this.#directory, 'openssl.cnf');
    writeFileSync(this.#config, configOf(this.#directory));
    writeFileSync(join(this.#directory, 'index.txt'), '');
    writeFileSync(join(this.#directory, 'crlnumber'), '01\n');
    const output = ['-keyout', this.#keyFile, '-out', this.certFile];
    openssl(['req', '-x509', ...EC, '-nodes', '-subj', `/CN=${name}`, '-days', '30', ...output]);
  }

  get cert(): string {
    return readFileSync(this.certFile, 'utf8');
  }

  /** Issues a certificate as the files `<name>.pem` and `<name>.key`; the key has mode 0600. */
  issue(name: string, request: CertificateRequest = {}): IssuedCertificate {
    const { subject = `/CN=${name}`, names = 'DNS:localhost,IP:127.0.0.1', key = 'ec' } = request;
    const { validFrom = -1, validTo = 30 } = request;
    const [certFile, keyFile, requestFile] = ['pem', 'key', 'csr'].map((ending) => this.#path(`${name}.${ending}`));
    if (certFile === undefined || keyFile === undefined || requestFile === undefined) throw new Error('no path');
    const extension = names === '' ? [] : ['-addext', `subjectAltName=${names}`];
    const kind = key === 'ec' ? EC : RSA;
    openssl(['req', ...kind, '-nodes', '-subj', subject, ...extension, '-keyout', keyFile, '-out', requestFile]);
    const validity = ['-startdate', dateOf(validFrom), '-enddate', dateOf(validTo)];
    this.#ca(['-in', requestFile, '-out', certFile, '-notext', ...validity]);
    chmodSync(keyFile, 0o600);
    return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  }

  revoke({ certFile }: IssuedCertificate): void {
    this.#ca(['-revoke', certFile]);
  }

  /** Returns the current revocation list in PEM, valid for `validTo` days from now. */
  revocationList(validTo = 30): string {
    const file = this.#path('crl.pem');
    this.#ca(['-gencrl', '-crl_lastupdate', dateOf(-9), '-crl_nextupdate', dateOf(validTo), '-out', file]);
    return readFileSync(file, 'utf8');
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #ca(args: readonly string[]): void {
    openssl(['ca', '-batch', '-config', this.#config, '-cert', this.certFile, '-keyfile', this.#keyFile, ...args]);
  }
}

/** Converts a PEM text with one object to DER. */
export const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]*-----/g, ''), 'base64');

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

const dateOf = (days: number): string =>
  `${new Date(Date.now() + days * DAY_MS).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;

const configOf = (directory: string): string => `[ca]
default_ca = here
[here]
dir = ${directory}
database = $dir/index.txt
new_certs_dir = $dir
crlnumber = $dir/crlnumber
rand_serial = yes
unique_subject = no
default_md = sha256
copy_extensions = copy
policy = any
[any]
commonName = optional
`;
