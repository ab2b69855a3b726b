import { type Static, Type } from 'typebox';
import { type Asset, AssetSchema, assetWithDefaults } from '../resources/asset.ts';
import { type Check, checkConfigFields, checkWithDefaults } from '../resources/check.ts';
import { InvalidResource } from '../resources/errors.ts';
import { type Hook, HookSchema, hookWithDefaults } from '../resources/hook.ts';
import {
  flag,
  int64,
  listOrNull,
  mapOf,
  optional,
  orAbsent,
  text,
  textList,
  textsOrAbsent,
  validator,
} from '../resources/schema.ts';

const RequestedCheckSchema = Type.Object({ ...checkConfigFields, scheduler: optional(text()) });
const AssetListSchema = Type.Object({ assets: optional(Type.Array(AssetSchema)) });

export const CheckRequestSchema = Type.Object({
  config: optional(RequestedCheckSchema),
  assets: optional(Type.Array(AssetSchema)),
  hooks: optional(Type.Array(HookSchema)),
  issued: optional(int64()),
  hook_assets: optional(
    mapOf(Type.Unsafe<Static<typeof AssetListSchema> | null>({ ...AssetListSchema, type: ['object', 'null'] })),
  ),
  secrets: optional(textList()),
  tokens_filled: optional(flag()),
});

/** A check as sent to agents. `scheduler` names the origin of the request and returns in the event. */
export type RequestedCheck = Check & { scheduler?: string };

export interface AssetList {
  assets: Asset[] | null;
}

/** The backend's request to an agent to run a check. */
export interface CheckRequest {
  config: RequestedCheck;
  /** Assets that the check needs. */
  assets: Asset[] | null;
  hooks: Hook[] | null;
  /** Unix seconds. The agent drops a request that is not newer than the last one for the same check. */
  issued: number;
  /** Assets that each hook needs, by hook name. */
  hook_assets: Record<string, AssetList>;
  /** Entries of the form `NAME=value`. */
  secrets?: string[] | undefined;
  /** The tokens of `config` are filled, and its texts are final. Only this backend sends it, for proxy requests. */
  tokens_filled?: boolean | undefined;
}

export const requestedCheckWithDefaults = (input: Static<typeof RequestedCheckSchema>): RequestedCheck =>
  Object.assign(checkWithDefaults(input), { scheduler: input.scheduler ?? '' });

const assetListWithDefaults = (input: Static<typeof AssetListSchema> | null): AssetList => ({
  assets: listOrNull(input?.assets?.map(assetWithDefaults)),
});

const validateShape = validator('check-request', CheckRequestSchema);

/**
 * Validates the shape only, because the agent reports an invalid check with an event.
 * @throws InvalidResource, also without a `config`
 */
export function parseCheckRequest(value: unknown): CheckRequest {
  const { config, assets, hooks, issued, hook_assets: hookAssets, secrets, tokens_filled } = validateShape(value);
  if (!config) throw requestWithoutCheck();
  return {
    config: requestedCheckWithDefaults(config),
    assets: listOrNull(assets?.map(assetWithDefaults)),
    hooks: listOrNull(hooks?.map(hookWithDefaults)),
    issued: issued ?? 0,
    hook_assets: Object.fromEntries(
      Object.entries(hookAssets ?? {}).map(([hook, list]) => [hook, assetListWithDefaults(list)]),
    ),
    secrets: textsOrAbsent(secrets),
    tokens_filled: orAbsent(tokens_filled),
  };
}

export const requestWithoutCheck = (): InvalidResource => new InvalidResource('check request config must be an object');
