import { type MessagePort, parentPort } from 'node:worker_threads';
import { getQuickJS } from 'quickjs-emscripten';
import { Engine } from './engine.ts';
import type { TaskSlice, WorkerMessage } from './messages.ts';

/** Answers each slice of a task with one result per value, sent as soon as it is available, and its end. */
async function serve(port: MessagePort): Promise<void> {
  const engine = new Engine(await getQuickJS(), () => performance.now());
  const post = (message: WorkerMessage): void => {
    port.postMessage(message);
  };
  port.on('message', ({ values, sliceMs, maxStopped, ...task }: TaskSlice) => {
    const endMs = performance.now() + sliceMs;
    let stopped = 0;
    for (const value of values) {
      const result = engine.evaluate(task, value);
      post({ type: 'result', result });
      if (result.type === 'limit') stopped += 1;
      if (stopped >= maxStopped || performance.now() >= endMs) break;
    }
    post({ type: 'done' });
  });
  // Warms up the engine, so that the first value is not charged for it.
  engine.evaluate({ programs: ['true'], variable: 'value', nowMs: 0, limitMs: Infinity }, 'null');
  post({ type: 'ready' });
}

if (parentPort === null) throw new Error('runs in a worker thread only');
await serve(parentPort);
