import { type Flag, kinds } from '../parsing/flags.ts';

/** A file and the flag that names it, for messages about the file. */
export interface NamedFile {
  readonly flag: string;
  readonly path: string;
}

/** PEM files: a certificate followed by its chain, and its key. */
export interface KeyPairFiles {
  readonly cert: NamedFile;
  readonly key: NamedFile;
}

export const pemFile = (about: string): Flag<string> => ({ kind: kinds.text, fallback: '', about });

/** The file of a flag; undefined when the flag is empty. */
export function fileOf<Name extends string>(
  flag: Name,
  values: { readonly [Key in Name]: string },
): NamedFile | undefined {
  const path = values[flag];
  return path === '' ? undefined : Object.freeze({ flag, path });
}

/** The certificate and its key; undefined unless both are given. */
export function keyPairOf<Name extends string>(
  flags: { readonly cert: Name; readonly key: Name },
  values: { readonly [Key in Name]: string },
): KeyPairFiles | undefined {
  const cert = fileOf(flags.cert, values);
  const key = fileOf(flags.key, values);
  return cert === undefined || key === undefined ? undefined : Object.freeze({ cert, key });
}

const PAIR = ['cert-file', 'key-file'] as const;

/** Refuses a certificate without its key, and a key without its certificate. */
export const keyPairRule = {
  flags: PAIR,
  broken: (values: { readonly [Name in (typeof PAIR)[number]]: string | undefined }): string | undefined =>
    PAIR.filter((flag) => values[flag]).length === 1
      ? 'tls configuration error, both flags --cert-file & --key-file are required'
      : undefined,
};
