import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import type { Asset } from '../resources/asset.ts';
import { TokenBucket } from '../rules/token-bucket.ts';
import { type AssetBuild, comparableSha512, selectBuild } from './asset-build.ts';
import { AssetCache } from './asset-cache.ts';
import type { InstalledAsset } from './asset-environment.ts';
import { AssetFailed, causeText, FetchFailed } from './asset-failed.ts';
import { byteCount } from './byte-count.ts';
import { download, type DownloadOptions } from './download.ts';
import { NotTried, SharedFetches } from './shared-fetches.ts';
import { unpack } from './unpack.ts';

/** The time for downloading and unpacking an asset, and for waiting for another process that does. */
const FETCH_LIMIT_MS = 600_000;
const FIRST_PURGE_MS = 60_000;
const PURGE_INTERVAL_MS = 86_400_000;
/** The result of the filters of an asset is reused for this long, if the entity is the same. */
const SELECTION_KEPT_MS = 60_000;
const MAX_REMEMBERED_SELECTIONS = 1_000;

export interface AssetManagerOptions extends DownloadOptions {
  cacheDir: string;
  /** Downloads per second, above 0, and at a time. */
  tokensPerS: number;
  burst: number;
}

/** The check, handler or other resource that uses an asset. */
export interface AssetOwner {
  namespace: string;
  name: string;
}

export interface AssetManagerPorts {
  /** Whether all filters, which are JavaScript, hold for the variable `entity`. Rejects with the error of a filter. */
  selects(filters: readonly string[], entity: unknown, owner: AssetOwner): Promise<boolean>;
  /** The entity of this machine. It is a new object when it has changed. */
  entity(): object;
  /** Fills the tokens of the build of an asset, except in its checksum. By default, builds have none. @throws Error */
  fill?(asset: string, build: AssetBuild): AssetBuild;
  /** Receives the duration of a step of an installation, ms. */
  measured?(step: 'fetch' | 'expand', durationMs: number): void;
  clock: Clock;
  log: Log;
}

/** Installs the assets that commands and expressions use, each when it is used for the first time. Source: spec/03 5, spec/04 2.12. */
export class AssetManager {
  readonly #options: AssetManagerOptions;
  readonly #ports: AssetManagerPorts;
  readonly #cache: AssetCache;
  readonly #bucket: TokenBucket;
  readonly #fetches: SharedFetches<string>;
  readonly #selections = new LRUCache<string, boolean>({
    ...atMost(MAX_REMEMBERED_SELECTIONS),
    ttl: SELECTION_KEPT_MS,
  });
  #selectedFor: object | undefined;
  #cancelPurge = (): void => undefined;

  constructor(options: AssetManagerOptions, ports: AssetManagerPorts) {
    const { cacheDir, tokensPerS, burst } = options;
    const { clock } = ports;
    this.#options = options;
    this.#ports = ports;
    this.#cache = new AssetCache(cacheDir, ports);
    this.#bucket = new TokenBucket({ tokensPerS, capacity: Math.max(1, burst), nowMs: () => clock.monotonicMs() });
    this.#fetches = new SharedFetches(clock);
  }

  get running(): QueueStats {
    return this.#fetches.running;
  }

  get waiting(): QueueStats {
    return this.#fetches.waiting;
  }

  get failures(): QueueStats {
    return this.#fetches.failures;
  }

  get selections(): QueueStats {
    return { used: this.#selections.size, limit: MAX_REMEMBERED_SELECTIONS };
  }

  /** Purges unused assets soon, and then every day. */
  start(): void {
    const purge = (): void => {
      this.#cache.purge().catch((error: unknown) => {
        this.#ports.log.warn({ err: error, directory: this.#options.cacheDir }, 'could not remove unused assets');
      });
      this.#cancelPurge = this.#ports.clock.after(PURGE_INTERVAL_MS, purge);
    };
    this.#cancelPurge = this.#ports.clock.after(FIRST_PURGE_MS, purge);
  }

  /** Aborts downloads, and purges no more. */
  stop(): void {
    this.#cancelPurge();
    this.#fetches.abort();
  }

  /**
   * Returns the assets in order, unpacked, without those whose filters match no build. Downloads what is missing.
   * @throws AssetFailed for the first one that cannot be used; the reason of the signal
   */
  async install(assets: readonly Asset[], signal?: AbortSignal): Promise<InstalledAsset[]> {
    const installed: InstalledAsset[] = [];
    for (const asset of assets) {
      const { name = '', namespace = '' } = asset.metadata;
      try {
        const build = await selectBuild(asset, (filters) => this.#selects(filters, { namespace, name }));
        if (build === undefined)
          this.#ports.log.debug({ namespace, asset: name }, 'no build of the asset is for this machine');
        else installed.push({ name, directory: await this.#installed(name, this.#filled(name, build), signal) });
      } catch (error) {
        if (signal?.aborted === true) throw error;
        throw new AssetFailed(name, causeText(error), { cause: error });
      }
    }
    return installed;
  }

  async #selects(filters: readonly string[], owner: AssetOwner): Promise<boolean> {
    const entity = this.#ports.entity();
    if (entity !== this.#selectedFor) this.#selections.clear();
    this.#selectedFor = entity;
    const key = JSON.stringify(filters);
    const known = this.#selections.get(key);
    if (known !== undefined) return known;
    const selects = await this.#ports.selects(filters, entity, owner);
    if (entity === this.#selectedFor) this.#selections.set(key, selects);
    return selects;
  }

  #filled(name: string, build: AssetBuild): AssetBuild {
    return this.#ports.fill === undefined ? build : { ...this.#ports.fill(name, build), sha512: build.sha512 };
  }

  async #installed(name: string, build: AssetBuild, signal: AbortSignal | undefined): Promise<string> {
    const sha512 = comparableSha512(build.sha512);
    const found = sha512 && (await this.#cache.find(sha512));
    if (found !== undefined && found !== '') return found;
    const key = createHash('sha512')
      .update(JSON.stringify([name, build]))
      .digest('hex');
    return this.#fetches.join(key, (fetchSignal) => this.#fetch(name, build, fetchSignal), signal);
  }

  async #fetch(name: string, build: AssetBuild, signal: AbortSignal): Promise<string> {
    const limit = new AbortController();
    const cancel = this.#ports.clock.after(FETCH_LIMIT_MS, () => {
      limit.abort(new FetchFailed(`the asset was not installed within ${FETCH_LIMIT_MS / 1_000} s`));
    });
    const ended = AbortSignal.any([signal, limit.signal]);
    // Nothing is ever installed for a checksum that no archive has. Its download fails as the reference's does.
    const place =
      comparableSha512(build.sha512) ?? createHash('sha512').update(`invalid ${build.sha512}`).digest('hex');
    try {
      return await this.#cache.install(place, ended, (work) => this.#fill(name, build, work, ended));
    } catch (error) {
      if (error instanceof FetchFailed) throw error;
      throw new FetchFailed(`error installing asset: ${causeText(error)}`, { cause: error });
    } finally {
      cancel();
    }
  }

  /** Downloads, verifies and unpacks. Returns the directory of the content. */
  async #fill(name: string, build: AssetBuild, work: string, signal: AbortSignal): Promise<string> {
    if (!this.#bucket.take()) throw new NotTried("can't download asset due to rate limit");
    const { clock, log } = this.#ports;
    const startedMs = clock.monotonicMs();
    const file = join(work, 'archive');
    const content = join(work, 'content');
    const { bytes, sha512 } = await download({ ...build, file }, this.#options, signal);
    const downloadedMs = clock.monotonicMs();
    this.#ports.measured?.('fetch', downloadedMs - startedMs);
    if (sha512 !== comparableSha512(build.sha512)) {
      throw new FetchFailed(
        `could not validate downloaded asset "${name}" (${byteCount(bytes)}): sha512 of downloaded asset (${sha512}) ` +
          `does not match specified sha512 in asset definition (${build.sha512})`,
      );
    }
    await mkdir(content, { mode: 0o755 });
    await unpack(file, content, signal);
    this.#ports.measured?.('expand', clock.monotonicMs() - downloadedMs);
    log.info(
      { asset: name, sha512, bytes, durationMs: Math.round(clock.monotonicMs() - startedMs) },
      'installed asset',
    );
    return content;
  }
}
