import { type Static, Type } from 'typebox';
import { mapWithDefaults, ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { listOrNull, optional, orAbsent, text, textList, textMap } from './schema.ts';

const buildFields = {
  url: optional(text()),
  sha512: optional(text('of the archive, in hex')),
  filters: optional(textList()),
  headers: optional(textMap()),
};

const AssetBuildSchema = Type.Object(buildFields);

/** An archive that a command needs, or one build of it for each kind of system. */
export const AssetSchema = Type.Object({
  ...buildFields,
  builds: optional(Type.Array(AssetBuildSchema)),
  metadata: optional(ObjectMetaSchema),
});

export type Asset = ReturnType<typeof assetWithDefaults>;

export function assetBuildWithDefaults(input: Static<typeof AssetBuildSchema>) {
  return {
    url: orAbsent(input.url),
    sha512: orAbsent(input.sha512),
    filters: listOrNull(input.filters),
    headers: mapWithDefaults(input.headers) ?? null,
  };
}

export function assetWithDefaults(input: Static<typeof AssetSchema>) {
  const { url, sha512, filters, headers } = assetBuildWithDefaults(input);
  return {
    url,
    sha512,
    filters,
    builds: listOrNull(input.builds?.map(assetBuildWithDefaults)),
    metadata: objectMetaWithDefaults(input.metadata),
    headers,
  };
}
