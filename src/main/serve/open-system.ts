import type { SystemPorts } from '../../actors/system-ports.ts';
import { ActorSystem } from '../../actors/system.ts';
import type { BackendConfig } from '../../config/backend.ts';
import type { SecretValues } from '../../pipeline/secrets.ts';
import type { Log } from '../../ports/log.ts';
import { EventLog } from '../log/event-log.ts';
import { freeBytesOf } from '../process/ensure-directory.ts';
import type { Closers } from './closers.ts';
import { decisionSettings } from './decision-settings.ts';

type OpenSystemPorts = Pick<
  SystemPorts,
  'store' | 'clock' | 'backendName' | 'machine' | 'machines' | 'configurationKinds' | 'memory'
> & { log: Log; secretValues: SecretValues };

export interface OpenedSystem {
  system: ActorSystem;
  /** Undefined when the configuration names no file for it. */
  eventLog: EventLog | undefined;
}

/** Starts the actors on what is stored, with the event log following their decisions. */
export async function openSystem(
  config: BackendConfig,
  ports: OpenSystemPorts,
  closers: Closers,
): Promise<OpenedSystem> {
  const { clock, log, secretValues } = ports;
  const system = new ActorSystem({
    ...ports,
    log: log.child({ component: 'actors' }),
    ownMetadata: config.ownEntity,
    deregistrationHandler: config.deregistrationHandler,
    settings: decisionSettings(config, secretValues),
    maxAwakeActors: config.maxAwakeActors,
    freeDiskBytes: () => freeBytesOf(config.stateDir),
  });
  const eventLog =
    config.eventLog && new EventLog({ ...config.eventLog, clock, log: log.child({ component: 'event-log' }) });
  if (eventLog !== undefined) {
    system.listen(eventLog);
    closers.add(() => eventLog.stop());
  }
  system.listen({
    announced(announcement) {
      if (announcement.type !== 'entity.registered') return;
      const { namespace, name } = announcement;
      log.info({ namespace, entity: name }, 'entity registered');
    },
  });
  await system.start();
  closers.add(() => system.stop());
  return { system, eventLog };
}
