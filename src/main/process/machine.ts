import { SystemInfo } from '../../agent/system-info.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { System } from '../../resources/entity.ts';

/** The description of this machine, as an agent reports it. */
export async function readMachine(clock: Clock, log: Log): Promise<System> {
  const facts = new SystemInfo(clock, log);
  await facts.start();
  facts.stop();
  return facts.current;
}
