import { type MessagePort, parentPort } from 'node:worker_threads';
import { getQuickJS } from 'quickjs-emscripten';
import { Engine } from './engine.ts';
import type { PredicateTask, WorkerMessage } from './messages.ts';

/** Answers each task with a verdict for each of its values, each as soon as it is known. */
async function serve(port: MessagePort): Promise<void> {
  const engine = new Engine(await getQuickJS(), () => performance.now());
  const say = (message: WorkerMessage): void => {
    port.postMessage(message);
  };
  port.on('message', ({ values, ...task }: PredicateTask) => {
    for (const value of values) say({ type: 'verdict', verdict: engine.decide(task, value) });
  });
  // What the first evaluation costs is no value's fault.
  engine.decide({ programs: ['true'], variable: 'value', nowMs: 0, limitMs: Infinity }, 'null');
  say({ type: 'ready' });
}

if (parentPort === null) throw new Error('runs in a worker thread only');
await serve(parentPort);
