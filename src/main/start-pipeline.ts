import type { ActorSystem } from '../actors/system.ts';
import { Pipeline, type PipelinePorts } from '../pipeline/pipeline.ts';
import { readResource } from '../store/resource-store.ts';
import type { TransactionalStore } from '../store/transactional-store.ts';

/** Above every key. */
const END = '~';

/** Begins to handle what the outbox holds, and what comes into it. */
export function startPipeline(
  system: ActorSystem,
  store: TransactionalStore,
  { clock, log, run }: Pick<PipelinePorts, 'clock' | 'log' | 'run'>,
): Pipeline {
  const pipeline = new Pipeline({
    clock,
    log,
    run,
    entry: (outboxKey) => store.get('outbox', outboxKey),
    handler: (namespace, name) => readResource(store, 'handlers', namespace, name),
    done: (outboxKey, key, notification) => system.settleNotification(outboxKey, key, notification),
  });
  system.feed(pipeline);
  for (const { key, value } of store.range('outbox', { from: '', to: END })) pipeline.add(key, value.key);
  system.listen({
    announced: (announcement) => {
      if (announcement.type === 'outbox.filled') pipeline.add(announcement.outboxKey, announcement.key);
    },
  });
  return pipeline;
}
