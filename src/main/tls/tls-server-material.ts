import type { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { KeyPairFiles, NamedFile } from '../../config/flags/tls-flags.ts';
import { fileError, type KeyPair, leafOf, readCertificates, readKeyPair, together } from './tls-files.ts';
import { TLS_TERMS } from './tls-terms.ts';

/** The certificate and key of a listener, and the authorities of its clients; PEM texts. */
export interface ServerMaterial extends KeyPair {
  /** Authorities of clients. If set, clients must show a certificate of one of them. */
  ca?: string;
  /** The lists of certificates that the authorities revoked. */
  crl?: readonly string[];
}

/** The authorities of clients, and their lists of revoked certificates. */
export interface ClientAuthorities {
  readonly file: NamedFile;
  readonly revoked: readonly string[];
}

/** Reads and validates the files: a certificate that every client would reject is an error. @throws ConfigError */
export function readServerMaterial(
  files: KeyPairFiles,
  clients: ClientAuthorities | undefined,
  nowMs: number,
): ServerMaterial {
  const { pair, ca } = together<{ pair: KeyPair; ca: string | undefined }>({
    pair: () => readServerPair(files, nowMs),
    ca: () => clients && readCertificates(clients.file),
  });
  const material: ServerMaterial = {
    ...pair,
    ...(clients === undefined || ca === undefined ? {} : { ca, crl: clients.revoked }),
  };
  try {
    // The lists were parsed when they were fetched, and may be long.
    createSecureContext({ ...TLS_TERMS, ...contextOf({ ...material, crl: [] }) });
  } catch (error) {
    if (error instanceof Error) throw fileError(files.cert, `cannot be used for TLS: ${error.message}`);
    throw error;
  }
  return material;
}

/** Options for `createSecureContext`. An empty `crl` is left out, because Node would then require lists and have none. */
export const contextOf = ({ cert, key, ca, crl = [] }: ServerMaterial) => ({
  cert,
  key,
  ...(ca === undefined ? {} : { ca }),
  ...(crl.length === 0 ? {} : { crl: [...crl] }),
});

function readServerPair(files: KeyPairFiles, nowMs: number): KeyPair {
  const pair = readKeyPair(files);
  const reason = rejectionOf(leafOf(pair.cert), nowMs);
  if (reason !== undefined) throw fileError(files.cert, reason);
  return pair;
}

/** Returns the reason why every client would reject a server with this certificate, if there is one. */
function rejectionOf(certificate: X509Certificate, nowMs: number): string | undefined {
  const { validFrom, validTo } = certificate;
  if (Date.parse(validTo) < nowMs) return `has expired on ${validTo}`;
  if (Date.parse(validFrom) > nowMs) return `is not valid before ${validFrom}`;
  const name = commonNameOf(certificate);
  if (name === undefined || namesOf(certificate).includes(name.toLowerCase())) return undefined;
  return `its common name ${name} is not among its subject alternative names`;
}

const namesOf = ({ subjectAltName = '' }: X509Certificate): string[] =>
  subjectAltName.split(', ').map((name) => name.replace(/^(DNS|IP Address):/, '').toLowerCase());

function commonNameOf(certificate: X509Certificate): string | undefined {
  const { CN } = certificate.toLegacyObject().subject as { CN?: string | string[] };
  return Array.isArray(CN) ? CN.join(', ') : CN;
}
