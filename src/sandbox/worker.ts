import { type MessagePort, parentPort } from 'node:worker_threads';
import { Engine } from './engine.ts';
import { FilterEngine } from './filter-engine.ts';
import { loadQuickJs } from './limited-module.ts';
import type { FilterRequest, PredicateRequest, WorkerMessage, WorkerRequest } from './messages.ts';
import { MutatorEngine } from './mutator-engine.ts';
import { ownThreadId, threadCpuMs } from './thread-cpu.ts';

const WARM_UP: FilterRequest = {
  type: 'filter',
  namespace: '',
  event: '{"metadata":{},"timestamp":0,"sequence":0}',
  filters: [{ name: '', action: 'allow', expressions: ['true'], libraries: [] }],
  nowMs: 0,
  limitMs: Infinity,
  lookedUp: {},
  spentMs: 0,
};

/** Answers each request in order, each value of a predicate as soon as it is decided. */
async function serve(port: MessagePort): Promise<void> {
  const quickJs = await loadQuickJs();
  const threadId = ownThreadId();
  const nowMs = (): number => performance.now();
  const cpuMs = (): number | undefined => threadCpuMs(threadId);
  const predicates = new Engine(quickJs, nowMs, cpuMs);
  const filters = new FilterEngine(quickJs, nowMs, cpuMs);
  const mutators = new MutatorEngine(quickJs, nowMs, cpuMs);
  const post = (message: WorkerMessage): void => {
    port.postMessage(message);
  };
  const evaluate = ({ id, values, sliceMs, maxStopped, ...task }: PredicateRequest & { id: number }): void => {
    const endMs = nowMs() + sliceMs;
    let stopped = 0;
    for (const value of values) {
      const result = predicates.evaluate(task, value);
      post({ type: 'value', id, result });
      if (result.type === 'limit') stopped += 1;
      if (stopped >= maxStopped || nowMs() >= endMs) break;
    }
  };
  const answer = (request: WorkerRequest) => {
    if (request.type === 'mutate') return mutators.mutate(request);
    if (request.type === 'filter') {
      return filters.decide(request, (filter) => {
        post({ type: 'begun', id: request.id, filter });
      });
    }
    evaluate(request);
    return undefined;
  };
  port.on('message', (request: WorkerRequest) => {
    const startedAtMs = nowMs();
    const answered = answer(request);
    post({ type: 'done', id: request.id, tookMs: nowMs() - startedAtMs, answer: answered });
  });
  // Warms up the engines, so that the first task is not charged for it.
  predicates.evaluate({ programs: ['true'], variable: 'value', nowMs: 0, limitMs: Infinity }, 'null');
  filters.decide(WARM_UP, () => undefined);
  post({ type: 'ready', threadId });
}

if (parentPort === null) throw new Error('runs in a worker thread only');
void serve(parentPort);
