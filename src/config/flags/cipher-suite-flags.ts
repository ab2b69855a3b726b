import { type ConfigWarning, type Flag, type FlagValues, InvalidValue, kinds } from '../parsing/flags.ts';
import type { Kind } from '../parsing/flag-kinds.ts';

/** The cipher suites that the listeners may offer, by their registered names, each with its name in OpenSSL. */
const SUITES: Readonly<Record<string, string>> = {
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
};

function suitesOf(names: readonly string[]): string[] {
  const unknown = names.find((name) => !Object.hasOwn(SUITES, name));
  if (unknown !== undefined) throw new InvalidValue(`${unknown} must be one of ${Object.keys(SUITES).join(', ')}`);
  return names.map((name) => SUITES[name] ?? '');
}

const suiteList: Kind<string[]> = {
  placeholder: 'a,b,...',
  fromTexts: (texts) => suitesOf(kinds.list.fromTexts(texts)),
  fromVariable: (text) => suitesOf(kinds.list.fromVariable?.(text) ?? []),
  fromFile: (value) => suitesOf(kinds.list.fromFile?.(value) ?? []),
};

export const cipherSuiteFlags = {
  'tls-cipher-suites': {
    kind: suiteList,
    fallback: [] as string[],
    about: 'cipher suites of all listeners, by their registered names; all that are safe by default',
  } satisfies Flag<string[]> as Flag<string[]>,
  'etcd-cipher-suites': {
    kind: kinds.list,
    fallback: [] as string[],
    about: 'cipher suites of all listeners, as in the reference; unsafe suites are left out with a warning',
  } satisfies Flag<string[]> as Flag<string[]>,
};

/** The names in OpenSSL; empty for the default. */
export function cipherSuitesOf(
  values: FlagValues<typeof cipherSuiteFlags>,
  warn: (warning: ConfigWarning) => void,
): readonly string[] {
  if (values['tls-cipher-suites'].length > 0) return values['tls-cipher-suites'];
  const names = values['etcd-cipher-suites'];
  const unsafe = names.filter((name) => !Object.hasOwn(SUITES, name));
  if (unsafe.length > 0) {
    warn({ message: 'cipher suites are not offered', fields: { flag: 'etcd-cipher-suites', suites: unsafe } });
  }
  return suitesOf(names.filter((name) => !unsafe.includes(name)));
}
