import type { AgentAssetPorts } from '../../agent/agent.ts';
import { AssetManager } from '../../assets/asset-manager.ts';
import type { AgentConfig } from '../../config/agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { assetSelector } from './asset-selector.ts';

/** The thread that evaluates filters ends when it was not used for this long. */
const SANDBOX_IDLE_MS = 60_000;

interface Ports extends AgentAssetPorts {
  clock: Clock;
  log: Log;
}

interface Options extends Pick<AgentConfig, 'cacheDir' | 'assets'> {
  /** Authorities in PEM, in addition to those of the system. */
  trustedCa: string | undefined;
}

/** Opens the assets of checks and hooks, which the agent installs in its cache directory. */
export function openAgentAssets(
  { cacheDir, assets, trustedCa }: Options,
  { clock, log, ...ports }: Ports,
): AssetManager {
  const sandbox = new SandboxOnDemand({ clock, log });
  return new AssetManager(
    { cacheDir, trustedCa, ...assets },
    { ...ports, selects: assetSelector(sandbox, clock), clock, log },
  );
}

/** A sandbox that exists while it is used, because most agents evaluate filters rarely. */
class SandboxOnDemand implements Pick<Sandbox, 'evaluate'> {
  readonly #ports: { clock: Clock; log: Log };
  #sandbox: Sandbox | undefined;
  #users = 0;
  #cancelEnd = (): void => undefined;

  constructor(ports: { clock: Clock; log: Log }) {
    this.#ports = ports;
  }

  evaluate: Sandbox['evaluate'] = async (task, owner) => {
    this.#cancelEnd();
    this.#users += 1;
    try {
      const loaded = await import('../../sandbox/sandbox.ts');
      this.#sandbox ??= new loaded.Sandbox({ ...this.#ports, workers: 1 });
      return await this.#sandbox.evaluate(task, owner);
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#cancelEnd = this.#ports.clock.after(SANDBOX_IDLE_MS, () => this.#end());
    }
  };

  #end(): void {
    const sandbox = this.#sandbox;
    this.#sandbox = undefined;
    sandbox?.stop().catch((err: unknown) => this.#ports.log.error({ err }, 'could not end the sandbox'));
  }
}
