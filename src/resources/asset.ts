import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertExpressions, assertSizeOfExpressions } from './expressions.ts';
import { assertAssetName } from './names.ts';
import { mapWithDefaults, ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { listOrNull, optional, orAbsent, text, textList, textMap, textsOrNull, validator } from './schema.ts';

const buildFields = {
  url: optional(text()),
  sha512: optional(text('SHA-512 of the archive, hexadecimal')),
  filters: optional(textList()),
  headers: optional(textMap()),
};

const AssetBuildSchema = Type.Object(buildFields);

/** An archive that a command needs, or a list with a build of it for each platform. */
export const AssetSchema = Type.Object(
  { ...buildFields, builds: optional(Type.Array(AssetBuildSchema)), metadata: optional(ObjectMetaSchema) },
  { $id: 'core/v2.Asset' },
);

export type Asset = ReturnType<typeof assetWithDefaults>;

export function assetBuildWithDefaults(input: Static<typeof AssetBuildSchema>) {
  return {
    url: orAbsent(input.url),
    sha512: orAbsent(input.sha512),
    filters: textsOrNull(input.filters),
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

const SHA512_HEX_DIGITS = 128;

const validateShape = validator('asset', AssetSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export function parseAssetShape(value: unknown): Asset {
  return assetWithDefaults(validateShape(value));
}

/** An asset with builds may lack an archive of its own, which is then not validated. @throws InvalidResource with the rule it breaks */
export function assertAsset(asset: Asset): void {
  assertAssetName(asset.metadata.name ?? '', 'name');
  if (asset.metadata.namespace === undefined) throw new InvalidResource('namespace cannot be empty');
  const builds = asset.builds ?? [asset];
  assertSizeOfExpressions(builds.flatMap(({ filters }) => filters ?? []));
  for (const build of builds) assertBuild(build);
}

function assertBuild({ url, sha512, filters }: ReturnType<typeof assetBuildWithDefaults>): void {
  if (sha512 === undefined) throw new InvalidResource('SHA-512 checksum cannot be empty');
  if (sha512.length < SHA512_HEX_DIGITS) {
    throw new InvalidResource(`SHA-512 checksum must be at least ${SHA512_HEX_DIGITS} characters`);
  }
  if (url === undefined) throw new InvalidResource('URL cannot be empty');
  assertExpressions(filters ?? []);
}
