import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
const RSA = ['-newkey', 'rsa:2048'];
const DAY_MS = 86_400_000;

export interface CertificateRequest {
  /** As openssl writes it; the common name is that of the file unless it is given. */
  subject?: string;
  /** `DNS:localhost,IP:127.0.0.1` unless it is given; empty for none. */
  names?: string;
  /** Days from now; yesterday and in 30 days unless given. */
  validFrom?: number;
  validTo?: number;
  key?: 'ec' | 'rsa';
}

/** A certificate and its key: where the files are, and the texts in them. */
export interface IssuedCertificate {
  certFile: string;
  keyFile: string;
  cert: string;
  key: string;
}

/** An authority of the tests, kept by `openssl ca` in a directory that is somebody else's to remove. */
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

  /** Files `<name>.pem` and `<name>.key`, the key for its owner only. */
  issue(name: string, wanted: CertificateRequest = {}): IssuedCertificate {
    const { subject = `/CN=${name}`, names = 'DNS:localhost,IP:127.0.0.1', key = 'ec' } = wanted;
    const { validFrom = -1, validTo = 30 } = wanted;
    const [certFile, keyFile, request] = ['pem', 'key', 'csr'].map((ending) => this.#path(`${name}.${ending}`));
    if (certFile === undefined || keyFile === undefined || request === undefined) throw new Error('no path');
    const extension = names === '' ? [] : ['-addext', `subjectAltName=${names}`];
    const kind = key === 'ec' ? EC : RSA;
    openssl(['req', ...kind, '-nodes', '-subj', subject, ...extension, '-keyout', keyFile, '-out', request]);
    const validity = ['-startdate', dateOf(validFrom), '-enddate', dateOf(validTo)];
    this.#ca(['-in', request, '-out', certFile, '-notext', ...validity]);
    chmodSync(keyFile, 0o600);
    return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  }

  revoke({ certFile }: IssuedCertificate): void {
    this.#ca(['-revoke', certFile]);
  }

  /** The list of what is revoked by now, in PEM; it is good until so many days from now. */
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

/** A PEM text with one thing in it, in DER. */
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
