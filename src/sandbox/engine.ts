import type { QuickJSContext, QuickJSWASMModule } from 'quickjs-emscripten';
import { HostFunctions } from './host-functions.ts';
import { LimitedRuntime } from './limited-runtime.ts';
import type { EvaluationResult, PredicateTask } from './messages.ts';

/** Evaluates users' predicates with fresh globals, without access to the host, and with limits of time, memory and stack. */
export class Engine {
  readonly #runtime: LimitedRuntime;

  /** `nowMs` and `cpuMs` measure the run time of programs. */
  constructor(quickJs: QuickJSWASMModule, nowMs: () => number, cpuMs?: () => number | undefined) {
    this.#runtime = new LimitedRuntime(quickJs, nowMs, cpuMs);
  }

  /** Evaluates all programs for one value; the result is `holds` if all of them hold. */
  evaluate(task: Omit<PredicateTask, 'values'>, value: string): EvaluationResult {
    this.#runtime.setBudget(task.limitMs);
    return this.#runtime.inFreshContext<EvaluationResult>(
      (context) => this.#inContext(context, task, value),
      (failure) => failure,
    );
  }

  #inContext(context: QuickJSContext, task: Omit<PredicateTask, 'values'>, value: string): EvaluationResult {
    const host = new HostFunctions(context);
    try {
      host.run('setNow', task.nowMs);
      host.run('setVariable', task.variable, value);
      for (const program of task.programs) {
        const result = this.#run(context, host, program);
        if (result.type !== 'holds') return result;
      }
      return { type: 'holds' };
    } finally {
      host.dispose();
    }
  }

  #run(context: QuickJSContext, host: HostFunctions, program: string): EvaluationResult {
    const result = this.#runtime.limited(() => context.evalCode(program, 'expression.js'));
    if (result.error) return this.#runtime.failureOf(context, result.error);
    const truth = result.value.consume((completion) => host.call('isTruthy', completion));
    return truth.consume((handle) => (context.dump(handle) === true ? { type: 'holds' } : { type: 'fails' }));
  }
}
