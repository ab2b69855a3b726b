import type { AssetManagerPorts } from '../../assets/asset-manager.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';

/** Limit of the CPU time of the filters of a build, ms. */
const FILTER_LIMIT_MS = 50;

/** Evaluates the filters of assets in a sandbox. */
export const assetSelector =
  (sandbox: Pick<Sandbox, 'evaluate'>, clock: Clock): AssetManagerPorts['selects'] =>
  async (programs, value, owner) => {
    const task = { programs, variable: 'entity', values: [JSON.stringify(value)], limitMs: FILTER_LIMIT_MS };
    const [result] = await sandbox.evaluate({ ...task, nowMs: clock.nowMs() }, owner);
    if (result?.type === 'holds' || result?.type === 'fails') return result.type === 'holds';
    throw new Error(result?.error ?? 'the filters were not evaluated');
  };
