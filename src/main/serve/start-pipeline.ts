import type { ActorSystem } from '../../actors/system.ts';
import { publishedBytes } from '../../actors/events/publish.ts';
import { SkippedHandlers } from '../../pipeline/skipped-handlers.ts';
import { Pipeline, type PipelinePorts } from '../../pipeline/pipeline.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/transactional-store.ts';

/** Above every key. */
const END = '~';

/** Starts handling the entries of the outbox, stored and new ones. */
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
    namespaceExists: (name) => readResource(store, 'namespaces', undefined, name) !== undefined,
    done: (outboxKey, key, notification, entry) => system.settleNotification(outboxKey, key, notification, entry),
  });
  system.setOutbox(pipeline);
  for (const { key: outboxKey, value } of store.range('outbox', { from: '', to: END })) {
    const { key, namespace, handler, event } = value;
    pipeline.add({ outboxKey, key, namespace, handler, bytes: publishedBytes(event) });
  }
  const skipped = new SkippedHandlers(log);
  system.listen({
    announced: (announcement) => {
      if (announcement.type === 'outbox.filled') pipeline.add(announcement);
      if (announcement.type === 'handler.skipped') skipped.note(announcement, clock.nowMs());
      if (announcement.type === 'namespace.deleted') pipeline.dropNamespace(announcement.namespace);
    },
  });
  return pipeline;
}
