import { BACKEND_FILE_KEYS } from './flags/command-flags.ts';
import { type Flag, InvalidValue, kinds, type Parsed, parseFlags, type Sources } from './parsing/flags.ts';
import { ENVIRONMENT_PREFIX, stateDirRule, stateFlags } from './flags/state-flags.ts';

/** An entry of the ledger, as the log or an earlier `ledger verify` printed it. */
export interface LedgerAnchor {
  readonly seq: number;
  readonly hash: string;
}

export interface VerifyConfig {
  readonly stateDir: string;
  readonly anchor: LedgerAnchor | undefined;
  /** A file that `ledger export` has written; undefined for the ledger in the store. */
  readonly exported: string | undefined;
}

const anchorKind: Flag<LedgerAnchor | undefined>['kind'] = {
  placeholder: 'number:hash',
  fromTexts(texts) {
    const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(texts.at(-1) ?? '') ?? [];
    if (hash === undefined) throw new InvalidValue('must be number:hash, as the log and `ledger verify` print it');
    return { seq: Number(seq), hash };
  },
  show: () => '',
};

const verifyFlags = {
  ...stateFlags,
  anchor: {
    kind: anchorKind,
    fallback: undefined as LedgerAnchor | undefined,
    about: 'an entry printed earlier, number:hash, that the ledger must contain',
  },
  file: { kind: kinds.text, fallback: '', about: 'verify this export instead of the ledger in the store' },
};

/** The flags of `mon-backend ledger verify`, without the command itself. @throws ConfigError */
export function parseVerifyConfig(sources: Sources): Parsed<VerifyConfig> {
  return parseFlags(
    {
      usage: 'mon-backend ledger verify',
      environmentPrefix: ENVIRONMENT_PREFIX,
      flags: verifyFlags,
      keysOfOthers: BACKEND_FILE_KEYS,
      rules: [stateDirRule],
      build: (values): VerifyConfig =>
        Object.freeze({ stateDir: values['state-dir'], anchor: values.anchor, exported: values.file || undefined }),
    },
    sources,
  );
}
