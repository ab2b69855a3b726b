import { SystemInfo } from '../../agent/system/system-info.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { System } from '../../resources/entity.ts';

/** The description of this machine, as an agent reports it. */
export async function readMachine(clock: Clock, log: Log): Promise<System> {
  const info = new SystemInfo({ detectsCloud: false, showsNetworks: true }, { clock, log });
  await info.start();
  info.stop();
  return info.current;
}
