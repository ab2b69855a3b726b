import { type MessagePort, parentPort } from 'node:worker_threads';
import { getQuickJS } from 'quickjs-emscripten';
import { Engine } from './engine.ts';
import type { PredicateTask, WorkerMessage } from './messages.ts';

/** Answers each task with one result per value, sent as soon as it is available. */
async function serve(port: MessagePort): Promise<void> {
  const engine = new Engine(await getQuickJS(), () => performance.now());
  const post = (message: WorkerMessage): void => {
    port.postMessage(message);
  };
  port.on('message', ({ values, ...task }: PredicateTask) => {
    for (const value of values) post({ type: 'result', result: engine.evaluate(task, value) });
  });
  // Warms up the engine, so that the first value is not charged for it.
  engine.evaluate({ programs: ['true'], variable: 'value', nowMs: 0, limitMs: Infinity }, 'null');
  post({ type: 'ready' });
}

if (parentPort === null) throw new Error('runs in a worker thread only');
await serve(parentPort);
