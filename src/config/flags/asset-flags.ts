import { type AllowedNetwork, parseAllowedNetwork } from '../../resources/ip-network.ts';
import { type Flag, type FlagValues, InvalidValue, kinds } from '../parsing/flags.ts';
import type { Kind } from '../parsing/flag-kinds.ts';

const MAX_BURST = 1_000_000;
const DEFAULT_RATE_PER_S = 1.39;

/** The download of assets. */
export interface AssetConfig {
  /** The defaults of the flags by default. */
  readonly assets?: {
    readonly tokensPerS: number;
    readonly burst: number;
    /** The networks of the servers of assets. Empty for the default rules. */
    readonly allowed: readonly AllowedNetwork[];
  };
}

const networks = (texts: readonly string[]): AllowedNetwork[] =>
  texts.map((text) => {
    try {
      return parseAllowedNetwork(text);
    } catch {
      throw new InvalidValue('must be any, public or networks such as 10.0.0.0/8');
    }
  });

const networkList: Kind<AllowedNetwork[]> = {
  placeholder: 'network,...',
  fromTexts: (texts) => networks(kinds.list.fromTexts(texts)),
  fromVariable: (text) => networks(kinds.list.fromVariable?.(text) ?? []),
  fromFile: (value) => networks(kinds.list.fromFile?.(value) ?? []),
  show: () => '',
};

export const assetFlags = {
  'assets-rate-limit': {
    kind: kinds.decimal(0),
    fallback: DEFAULT_RATE_PER_S,
    about: 'downloads of assets per second, 0 for the default',
  },
  'assets-burst-limit': {
    kind: kinds.integer(0, MAX_BURST),
    fallback: 100,
    about: 'downloads of assets that may begin at once',
  },
  'assets-allowed-networks': {
    kind: networkList,
    fallback: [] as AllowedNetwork[],
    about: 'networks from which assets may be downloaded: any, public, or networks such as 10.0.0.0/8',
  },
} satisfies Record<string, Flag<unknown>>;

export const assetConfig = (values: FlagValues<typeof assetFlags>): Required<AssetConfig> => ({
  assets: Object.freeze({
    tokensPerS: values['assets-rate-limit'] || DEFAULT_RATE_PER_S,
    burst: values['assets-burst-limit'],
    allowed: values['assets-allowed-networks'],
  }),
});
