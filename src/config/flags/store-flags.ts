import { type ConfigWarning, type Flag, type FlagValues, InvalidValue, kinds } from '../parsing/flags.ts';
import type { Kind } from '../parsing/flag-kinds.ts';
import type { RetentionConfig, retentionFlags } from './retention-flags.ts';

const MAX_VALUE_BYTES = 2 ** 31 - 1;
const DEFAULT_VALUE_BYTES = 1_572_864;
const MAX_COUNT = Number.MAX_SAFE_INTEGER;

type StoreSync = 'full' | 'none';
const DEFAULT_SYNC: StoreSync = 'full';

/** How data reaches the disk, and how large one resource may be. */
export interface StoreConfig {
  /** With `full`, acknowledged data survives a power cut. */
  readonly storeSync: StoreSync;
  /** The size in bytes above which a resource is refused; 0 = no limit. */
  readonly maxValueBytes?: number;
}

const either = kinds.oneOf<StoreSync>(['full', 'none']);
const syncKind: Kind<StoreSync> = {
  ...either,
  fromTexts(texts) {
    if (texts.at(-1)?.startsWith('interval') === true) {
      throw new InvalidValue('must be full or none; a power cut between two syncs could damage the whole store');
    }
    return either.fromTexts(texts);
  },
};

export const storeFlags = {
  'store-sync': {
    kind: syncKind,
    fallback: DEFAULT_SYNC,
    about: 'full, or none, which is faster but loses acknowledged data when the machine fails',
  } satisfies Flag<StoreSync>,
  'store-max-value-bytes': {
    kind: kinds.integer(0, MAX_VALUE_BYTES),
    fallback: DEFAULT_VALUE_BYTES,
    about: 'largest resource of the configuration in bytes; 0 = no limit',
  },
};

/** Flags of the reference that set limits of mon which have flags of their own. */
export const etcdStoreFlags = {
  'etcd-unsafe-no-fsync': { kind: kinds.boolean, fallback: false, about: 'the same as --store-sync none' },
  'etcd-max-request-bytes': {
    kind: kinds.integer(0, MAX_VALUE_BYTES),
    fallback: 0,
    about: 'the same as --store-max-value-bytes, which takes precedence',
  },
  'etcd-quota-backend-bytes': {
    kind: kinds.integer(-MAX_COUNT, MAX_COUNT),
    fallback: 0,
    about: 'the same as --store-quota, in bytes; --store-quota takes precedence',
  },
};

type Values = FlagValues<typeof storeFlags & typeof etcdStoreFlags>;
type IsGiven = (name: keyof typeof storeFlags | keyof typeof etcdStoreFlags | keyof typeof retentionFlags) => boolean;

export function storeConfig(values: Values, warn: (warning: ConfigWarning) => void, isGiven: IsGiven): StoreConfig {
  const isUnsafe = values['etcd-unsafe-no-fsync'];
  const storeSync = isUnsafe ? 'none' : values['store-sync'];
  if (storeSync === 'none') {
    const flag = isUnsafe ? 'etcd-unsafe-no-fsync' : 'store-sync';
    warn({ message: 'acknowledged data may be lost when the machine fails', fields: { flag } });
  }
  const followsReference = isGiven('etcd-max-request-bytes') && !isGiven('store-max-value-bytes');
  const maxValueBytes = values[followsReference ? 'etcd-max-request-bytes' : 'store-max-value-bytes'];
  return { storeSync, maxValueBytes };
}

/** The quota of the reference applies when that of mon is not given. A quota below 1 means none. */
export const etcdQuota = (values: Values, isGiven: IsGiven): Pick<RetentionConfig, 'storeQuotaBytes'> =>
  isGiven('etcd-quota-backend-bytes') && !isGiven('store-quota')
    ? { storeQuotaBytes: Math.max(0, values['etcd-quota-backend-bytes']) }
    : {};
