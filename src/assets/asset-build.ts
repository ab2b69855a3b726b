import type { Asset } from '../resources/asset.ts';

/** The archive of an asset for this machine. */
export interface AssetBuild {
  url: string;
  /** The checksum as the asset has it. */
  sha512: string;
  headers: Readonly<Record<string, string>> | null;
}

const CHECKSUM = /^[0-9a-f]{128}/;

/** Returns the first build whose filters all hold. An asset with builds has no archive of its own. Undefined if there is none. */
export async function selectBuild(
  asset: Asset,
  selects: (filters: readonly string[]) => Promise<boolean>,
): Promise<AssetBuild | undefined> {
  for (const { url = '', sha512 = '', filters, headers } of asset.builds ?? [asset]) {
    if (filters === null || filters.length === 0 || (await selects(filters))) return { url, sha512, headers };
  }
  return undefined;
}

/** Returns the checksum in the form that is compared: its first 128 digits in lower case. Undefined if nothing can have it. */
export const comparableSha512 = (text: string): string | undefined => CHECKSUM.exec(text.toLowerCase())?.[0];
