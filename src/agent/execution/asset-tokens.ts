import type { AssetBuild } from '../../assets/asset-build.ts';
import { substituteTokens, TokenError } from '../../formats/tokens.ts';
import type { Entity } from '../../resources/entity.ts';
import { tokenData } from './token-data.ts';

/** Fills the tokens in the build of an asset. @throws TokenError that names the asset */
export function fillBuild(asset: string, build: AssetBuild, entity: Entity): AssetBuild {
  try {
    return substituteTokens(build, tokenData(entity));
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    throw new TokenError(`error while substituting asset "${asset}" tokens: ${error.message}`, { cause: error });
  }
}
