import { type FlagValues, kinds } from '../parsing/flags.ts';

type TextMap = Readonly<Record<string, string>>;

/** The labels and annotations that the operator adds to the backend's own entity. */
export interface OwnEntityConfig {
  readonly ownEntity?: { readonly labels: TextMap; readonly annotations: TextMap };
}

export const ownEntityFlags = {
  labels: { kind: kinds.map, fallback: {}, about: "labels of the backend's own entity in namespace mon-system" },
  annotations: { kind: kinds.map, fallback: {}, about: "annotations of the backend's own entity" },
};

export const ownEntityConfig = (values: FlagValues<typeof ownEntityFlags>): OwnEntityConfig => ({
  ownEntity: Object.freeze({
    labels: Object.freeze(values.labels),
    annotations: Object.freeze(values.annotations),
  }),
});
