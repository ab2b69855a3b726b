import type { Asset } from '../../resources/asset.ts';
import type { Check } from '../../resources/check.ts';
import type { Hook } from '../../resources/hook.ts';
import { isAssetName, isName } from '../../resources/names.ts';
import { listOrNull } from '../../resources/schema.ts';
import type { TableReader } from '../../store/decision.ts';
import { readResource } from '../../store/resource-store.ts';
import type { CheckRequest } from '../../wire/check-request.ts';

/** Builds the request with the assets and hooks that an agent needs. Assets and hooks that do not exist are left out; the agent reports them. */
export function checkRequest(reader: TableReader, check: Check, issued: number): CheckRequest {
  const { namespace = '' } = check.metadata;
  const hooks = hooksOf(reader, namespace, check);
  const hookAssets = hooks.flatMap(({ metadata: { name = '' }, runtime_assets: needed }) => {
    const assets = assetsOf(reader, namespace, needed);
    return assets.length === 0 ? [] : [[name, { assets }] as const];
  });
  return {
    config: check,
    assets: listOrNull(assetsOf(reader, namespace, check.runtime_assets)),
    hooks: listOrNull(hooks),
    issued,
    hook_assets: Object.fromEntries(hookAssets),
  };
}

/** Returns the hooks of the check, without duplicates, by name. */
function hooksOf(reader: TableReader, namespace: string, { check_hooks: lists }: Check): Hook[] {
  const named = new Set((lists ?? []).flatMap((list) => Object.values(list)).flatMap((names) => names ?? []));
  return [...named]
    .filter(isName)
    .toSorted()
    .flatMap((name) => readResource(reader, 'hooks', namespace, name) ?? []);
}

/** Returns the named assets, without duplicates, by name. */
function assetsOf(reader: TableReader, namespace: string, needed: readonly string[] | null): Asset[] {
  return [...new Set(needed)]
    .filter(isAssetName)
    .toSorted()
    .flatMap((name) => readResource(reader, 'assets', namespace, name) ?? []);
}
