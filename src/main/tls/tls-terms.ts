import type { SecureContextOptions } from 'node:tls';

/** The cipher suites with forward secrecy and authenticated encryption. */
const SUITES_OF_TLS_1_2 = ['AES256-GCM-SHA384', 'AES128-GCM-SHA256', 'CHACHA20-POLY1305'].flatMap((suite) => [
  `ECDHE-ECDSA-${suite}`,
  `ECDHE-RSA-${suite}`,
]);
const SUITES_OF_TLS_1_3 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'];

const SUITES = [...SUITES_OF_TLS_1_3, ...SUITES_OF_TLS_1_2];

/** The TLS versions and cipher suites of both programs, as client and server; the client's order decides. Source: Listener, "TLS floor". */
export const TLS_TERMS = {
  minVersion: 'TLSv1.2',
  ciphers: SUITES.join(':'),
  ecdhCurve: 'X25519:P-384:P-256:P-521',
  honorCipherOrder: false,
} satisfies SecureContextOptions;

/** The terms with the cipher suites that the operator selected; all of them when there are none. TLS 1.3 keeps its own suites unless some are selected. */
export function tlsTerms(selected: readonly string[] = []): typeof TLS_TERMS {
  if (selected.length === 0) return TLS_TERMS;
  const hasOwn = selected.some((suite) => SUITES_OF_TLS_1_3.includes(suite));
  return { ...TLS_TERMS, ciphers: [...(hasOwn ? [] : SUITES_OF_TLS_1_3), ...selected].join(':') };
}
