import type { EarlierApiConfig } from './earlier-api-flags.ts';
import { type FlagValues, InvalidValue, kinds } from '../parsing/flags.ts';
import type { Kind } from '../parsing/flag-kinds.ts';

/** The parts of the backend that can be turned off. The reference has all of them; `graphql` and `statsd` are not in mon. */
const FEATURES = ['dashboard', 'graphql', 'legacy-api', 'legacy-dashboard-api', 'statsd', 'metrics'] as const;

export type Feature = (typeof FEATURES)[number];

export interface FeatureConfig {
  /** Nothing by default. */
  readonly disabledFeatures?: ReadonlySet<Feature>;
}

function featuresOf(names: readonly string[]): Feature[] {
  const unknown = names.find((name) => !FEATURES.some((feature) => feature === name));
  if (unknown !== undefined) throw new InvalidValue(`${unknown} must be one of ${FEATURES.join(', ')}`);
  return FEATURES.filter((feature) => names.includes(feature));
}

const featureList: Kind<Feature[]> = {
  placeholder: 'a,b,...',
  fromTexts: (texts) => featuresOf(kinds.list.fromTexts(texts)),
  fromVariable: (text) => featuresOf(kinds.list.fromVariable?.(text) ?? []),
  fromFile: (value) => featuresOf(kinds.list.fromFile?.(value) ?? []),
};

export const featureFlags = {
  'disable-features': {
    kind: featureList,
    fallback: [] as Feature[],
    about: `parts that are turned off: ${FEATURES.join(', ')}; a listener that is turned off opens no port`,
  },
};

export const featureConfig = (values: FlagValues<typeof featureFlags>): FeatureConfig => ({
  disabledFeatures: new Set(values['disable-features']),
});

/** Takes the listener and the routes of the API of the first generation away where they are turned off. */
export function withoutDisabled(
  { earlierApi }: { readonly earlierApi?: EarlierApiConfig },
  values: FlagValues<typeof featureFlags>,
): { readonly earlierApi?: EarlierApiConfig } {
  if (earlierApi === undefined) return {};
  const disabled = new Set(values['disable-features']);
  const listen = disabled.has('legacy-api') ? undefined : earlierApi.listen;
  const onDashboard = earlierApi.onDashboard && !disabled.has('legacy-dashboard-api') && !disabled.has('dashboard');
  return listen === undefined && !onDashboard
    ? {}
    : { earlierApi: Object.freeze({ ...earlierApi, listen, onDashboard }) };
}
