import { AssetFailed } from '../../src/assets/asset-failed.ts';
import { AssetManager } from '../../src/assets/asset-manager.ts';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { assetWithDefaults } from '../../src/resources/asset.ts';
import { RecordedLog } from '../support/recorded-log.ts';

/** What the program installs, as JSON in its first argument. */
export interface Installation {
  cacheDir: string;
  url: string;
  sha512: string;
  /** Another asset that is installed first, so that the memory of the program itself does not count. */
  first?: { url: string; sha512: string };
}

/** What it sends to its parent. */
export interface Installed {
  directory?: string;
  reason?: string;
  /** The most memory that it used while it installed the asset, above that before, in MB. */
  grownMb: number;
  ms: number;
}

const { cacheDir, url, sha512, first } = JSON.parse(process.argv[2] ?? '{}') as Installation;
const entity = {};
const manager = new AssetManager(
  { cacheDir, tokensPerS: 10, burst: 10, allowed: [] },
  { selects: () => Promise.resolve(true), entity: () => entity, clock: systemClock, log: new RecordedLog() },
);

const assetOf = (build: { url: string; sha512: string }) =>
  assetWithDefaults({ ...build, metadata: { name: 'a', namespace: 'default' } });

if (first !== undefined) await manager.install([assetOf(first)]);

const MIB = 2 ** 20;
const SAMPLE_MS = 5;
globalThis.gc?.();
const beforeMb = process.memoryUsage.rss() / MIB;
let mostMb = beforeMb;
const sampling = setInterval(() => {
  mostMb = Math.max(mostMb, process.memoryUsage.rss() / MIB);
}, SAMPLE_MS);

const startedAt = performance.now();
const result = await manager.install([assetOf({ url, sha512 })]).then(
  ([installed]) => ({ directory: installed?.directory ?? '' }),
  (error: unknown) => ({ reason: error instanceof AssetFailed ? error.reason : String(error) }),
);
clearInterval(sampling);
process.send?.({ ...result, grownMb: mostMb - beforeMb, ms: performance.now() - startedAt } satisfies Installed);
process.disconnect?.();
