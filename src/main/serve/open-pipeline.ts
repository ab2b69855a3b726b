import type { ActorSystem } from '../../actors/system.ts';
import type { BackendConfig } from '../../config/backend.ts';
import { ProcessReaper } from '../../exec/process-reaper.ts';
import { handlerRunner } from '../../pipeline/handler-run.ts';
import type { Pipeline, PipelinePorts } from '../../pipeline/pipeline.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/transactional-store.ts';
import type { Closers } from './closers.ts';
import { startPipeline } from './start-pipeline.ts';

export interface OpenPipelinePorts {
  system: ActorSystem;
  store: TransactionalStore;
  /** Measures the runs of handlers. */
  durations: { observing(run: PipelinePorts['run']): PipelinePorts['run'] };
  clock: Clock;
  log: Log;
}

/** Starts handling the outbox with real processes and sockets, and measures how long handlers take. */
export function openPipeline(
  { handlerRunLimitMs = 0 }: Pick<BackendConfig, 'handlerRunLimitMs'>,
  { system, store, durations, clock, log }: OpenPipelinePorts,
  closers: Closers,
): Pipeline {
  const reaper = new ProcessReaper(log);
  closers.add(() => {
    reaper.close();
  });
  const mutatorExists = (namespace: string, name: string) =>
    readResource(store, 'mutators', namespace, name) !== undefined;
  const run = durations.observing(handlerRunner({ runLimitMs: handlerRunLimitMs, reaper, mutatorExists }));
  const pipeline = startPipeline(system, store, { clock, log, run });
  closers.add(() => pipeline.stop());
  return pipeline;
}
