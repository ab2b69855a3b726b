import { AssetFailed } from '../../src/assets/asset-failed.ts';
import { AssetManager, type AssetManagerOptions, type AssetManagerPorts } from '../../src/assets/asset-manager.ts';
import { systemClock } from '../../src/main/process/system-clock.ts';
import type { Asset } from '../../src/resources/asset.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { AssetServer } from './asset-server.ts';

/** A server of archives, and a manager of assets with an empty cache. */
export class AssetInstallation {
  readonly server: AssetServer;
  readonly log = new RecordedLog();
  readonly #directory: TemporaryDirectory;
  readonly #managers: AssetManager[] = [];

  private constructor(server: AssetServer, directory: TemporaryDirectory) {
    this.server = server;
    this.#directory = directory;
  }

  static async start(): Promise<AssetInstallation> {
    return new AssetInstallation(await AssetServer.start(), await temporaryDirectory());
  }

  get cacheDir(): string {
    return `${this.#directory.path}/cache`;
  }

  /** The directory around that of the cache, which an archive must not reach. */
  get outside(): string {
    return this.#directory.path;
  }

  manager(options: Partial<AssetManagerOptions> = {}, ports: Partial<AssetManagerPorts> = {}): AssetManager {
    const entity = {};
    const manager = new AssetManager(
      { cacheDir: this.cacheDir, tokensPerS: 100, burst: 100, allowed: [], ...options },
      { selects: () => Promise.resolve(true), entity: () => entity, clock: systemClock, log: this.log, ...ports },
    );
    this.#managers.push(manager);
    return manager;
  }

  /** Installs one asset with a new manager, and returns its directory, or the failure. */
  async install(asset: Asset, options: Partial<AssetManagerOptions> = {}): Promise<string | AssetFailed> {
    return directoryOrFailure(this.manager(options), asset);
  }

  async stop(): Promise<void> {
    for (const manager of this.#managers) manager.stop();
    await this.server.stop();
    await this.#directory.remove();
  }
}

export async function directoryOrFailure(manager: AssetManager, asset: Asset): Promise<string | AssetFailed> {
  try {
    const [installed] = await manager.install([asset]);
    return installed?.directory ?? '';
  } catch (error) {
    if (error instanceof AssetFailed) return error;
    throw error;
  }
}
