import type { Asset } from '../../resources/asset.ts';
import type { Check } from '../../resources/check.ts';
import type { Hook } from '../../resources/hook.ts';
import { withinListBounds } from '../../resources/list-bounds.ts';
import { withinMetaBounds } from '../../resources/meta-bounds.ts';
import { isAssetName, isName } from '../../resources/names.ts';
import { listOrNull } from '../../resources/schema.ts';
import type { TableReader } from '../../store/commit/decision.ts';
import { readResource } from '../../store/resource-store.ts';
import type { CheckRequest } from '../../wire/check-request.ts';
import { RequestTooLong } from './request-too-long.ts';

/** The maximum size of the assets and hooks of one request, bytes of JSON. */
const MAX_NEEDED_BYTES = 2 * 1024 * 1024;
/** The maximum number of names of assets and hooks that are read for one request. */
const MAX_NEEDED_NAMES = 5_000;

export interface BuiltRequest {
  request: CheckRequest;
  /** The size of its assets and hooks. */
  bytes: number;
}

/**
 * Builds the request with the assets and hooks that an agent needs. Assets and hooks that do not exist are left out; the agent reports
 * them. The subscriptions, labels and annotations return in the event, so those beyond the bounds of an event are left out.
 * @throws RequestTooLong
 */
export function checkRequest(reader: TableReader, check: Check, issued: number): BuiltRequest {
  const needed = new NeededResources(reader, check.metadata.namespace ?? '');
  const assets = needed.assets(check.runtime_assets);
  const hooks = needed.hooks(check);
  const hookAssets = hooks.flatMap(({ metadata: { name = '' }, runtime_assets: names }) => {
    const ofHook = needed.assets(names);
    return ofHook.length === 0 ? [] : [[name, { assets: ofHook }] as const];
  });
  const request = {
    config: {
      ...check,
      subscriptions: withinListBounds(check.subscriptions),
      metadata: withinMetaBounds(check.metadata),
    },
    assets: listOrNull(assets),
    hooks: listOrNull(hooks),
    issued,
    hook_assets: Object.fromEntries(hookAssets),
  };
  return { request, bytes: needed.bytes };
}

/** Reads the resources that a request needs, within the bounds of all of them together. */
class NeededResources {
  readonly #reader: TableReader;
  readonly #namespace: string;
  #names = 0;
  bytes = 0;

  constructor(reader: TableReader, namespace: string) {
    this.#reader = reader;
    this.#namespace = namespace;
  }

  /** Returns the hooks of the check, without duplicates, by name. @throws RequestTooLong */
  hooks({ check_hooks: lists }: Check): Hook[] {
    const names = new Set((lists ?? []).flatMap((list) => Object.values(list)).flatMap((named) => named ?? []));
    return this.#read('hooks', [...names].filter(isName));
  }

  /** Returns the named assets, without duplicates, by name. @throws RequestTooLong */
  assets(names: readonly string[] | null): Asset[] {
    return this.#read('assets', [...new Set(names)].filter(isAssetName));
  }

  #read<K extends 'assets' | 'hooks'>(kind: K, names: string[]) {
    this.#names += names.length;
    if (this.#names > MAX_NEEDED_NAMES) {
      throw new RequestTooLong(
        `too long: runtime_assets and check_hooks lead to more than ${MAX_NEEDED_NAMES} assets and hooks`,
      );
    }
    return names.toSorted().flatMap((name) => {
      const resource = readResource(this.#reader, kind, this.#namespace, name);
      if (resource === undefined) return [];
      this.#count(resource);
      return resource;
    });
  }

  #count(resource: object): void {
    this.bytes += Buffer.byteLength(JSON.stringify(resource));
    if (this.bytes > MAX_NEEDED_BYTES) {
      throw new RequestTooLong(`too long: the assets and hooks of the check exceed ${MAX_NEEDED_BYTES} bytes`);
    }
  }
}
