import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten';
import type { EvaluationResult, PredicateTask } from './messages.ts';
import { PRELUDE } from './prelude.ts';

const MEMORY_LIMIT_BYTES = 16 * 1024 * 1024;
const STACK_LIMIT_BYTES = 256 * 1024;
/** A runtime is replaced after this many evaluations, so that leaks do not accumulate. */
const MAX_EVALUATIONS = 10_000;
const MAX_ERROR_LENGTH = 200;
/** The longest gap between two looks at the clock that counts in full. A longer one means that the thread was not scheduled. */
const MAX_GAP_MS = 10;
/** A program is stopped after this multiple of its limit by the clock, even if its thread was not scheduled. */
const MAX_CLOCK_FACTOR = 4;
const OUT_OF_TIME: EvaluationResult = { type: 'limit', error: 'took too long' };

/**
 * Evaluates users' JavaScript with fresh globals, without access to the host, and with limits of time, memory and
 * stack.
 */
export class Engine {
  readonly #quickJs: QuickJSWASMModule;
  readonly #nowMs: () => number;
  #runtime: QuickJSRuntime | undefined;
  #evaluations = 0;
  /** Undefined while no program of a user runs. */
  #limitMs: number | undefined;
  #startedAtMs = 0;
  #seenAtMs = 0;
  #usedMs = 0;
  #ranOutOfTime = false;

  /** `nowMs` measures the run time of programs. */
  constructor(quickJs: QuickJSWASMModule, nowMs: () => number) {
    this.#quickJs = quickJs;
    this.#nowMs = nowMs;
  }

  /** Evaluates all programs for one value; the result is `holds` if all of them hold. */
  evaluate(task: Omit<PredicateTask, 'values'>, value: string): EvaluationResult {
    const runtime = this.#take();
    this.#ranOutOfTime = false;
    this.#limitMs = undefined;
    const context = runtime.newContext();
    try {
      return this.#inContext(context, task, value);
    } catch (error) {
      if (this.#ranOutOfTime) return OUT_OF_TIME;
      // The engine itself failed, so its runtime must not be reused.
      this.#runtime = undefined;
      return { type: 'limit', error: shortened(`engine failed: ${String(error)}`) };
    } finally {
      if (this.#runtime !== undefined) context.dispose();
    }
  }

  #take(): QuickJSRuntime {
    if (this.#runtime !== undefined && this.#evaluations >= MAX_EVALUATIONS) {
      this.#runtime.dispose();
      this.#runtime = undefined;
    }
    if (this.#runtime === undefined) {
      this.#evaluations = 0;
      this.#runtime = this.#quickJs.newRuntime();
      this.#runtime.setMemoryLimit(MEMORY_LIMIT_BYTES);
      this.#runtime.setMaxStackSize(STACK_LIMIT_BYTES);
      this.#runtime.setInterruptHandler(() => {
        this.#ranOutOfTime ||= this.#isOutOfTime();
        return this.#ranOutOfTime;
      });
    }
    this.#evaluations += 1;
    return this.#runtime;
  }

  #isOutOfTime(): boolean {
    if (this.#limitMs === undefined) return false;
    const nowMs = this.#nowMs();
    this.#usedMs += Math.min(nowMs - this.#seenAtMs, MAX_GAP_MS);
    this.#seenAtMs = nowMs;
    return this.#usedMs >= this.#limitMs || nowMs - this.#startedAtMs >= MAX_CLOCK_FACTOR * this.#limitMs;
  }

  #inContext(context: QuickJSContext, task: Omit<PredicateTask, 'values'>, value: string): EvaluationResult {
    const { global } = context;
    // Read before a program can replace it.
    const toBoolean = context.getProp(global, 'Boolean');
    try {
      context.newNumber(task.nowMs).consume((now) => {
        context.setProp(global, 'nowMs', now);
      });
      context.unwrapResult(context.evalCode(PRELUDE, 'prelude.js')).dispose();
      parseJson(context, value).consume((parsed) => {
        context.setProp(global, task.variable, parsed);
      });
      this.#limitMs = task.limitMs;
      this.#startedAtMs = this.#seenAtMs = this.#nowMs();
      this.#usedMs = 0;
      for (const program of task.programs) {
        const result = this.#run(context, program, toBoolean);
        if (result.type !== 'holds') return result;
      }
      return { type: 'holds' };
    } finally {
      toBoolean.dispose();
    }
  }

  #run(context: QuickJSContext, program: string, toBoolean: QuickJSHandle): EvaluationResult {
    const result = context.evalCode(program, 'expression.js');
    if (result.error) return this.#thrown(context, result.error);
    const truth = result.value.consume((completion) =>
      context.unwrapResult(context.callFunction(toBoolean, context.undefined, completion)),
    );
    return truth.consume((handle) => (context.dump(handle) === true ? { type: 'holds' } : { type: 'fails' }));
  }

  #thrown(context: QuickJSContext, error: QuickJSHandle): EvaluationResult {
    const text = error.consume((handle) => errorText(context, handle));
    if (this.#ranOutOfTime) return OUT_OF_TIME;
    if (text === 'InternalError: out of memory') return { type: 'limit', error: 'took too much memory' };
    return { type: 'error', error: shortened(text) };
  }
}

function parseJson(context: QuickJSContext, text: string): QuickJSHandle {
  return context
    .getProp(context.global, 'JSON')
    .consume((json) =>
      context
        .getProp(json, 'parse')
        .consume((parse) =>
          context
            .newString(text)
            .consume((argument) => context.unwrapResult(context.callFunction(parse, context.undefined, argument))),
        ),
    );
}

/** Reading the properties of a thrown object may run code, which counts towards the limits. */
function errorText(context: QuickJSContext, error: QuickJSHandle): string {
  const type = context.typeof(error);
  if (type !== 'object') return `threw ${type === 'symbol' ? 'a symbol' : String(context.dump(error))}`;
  const dumped: unknown = context.dump(error);
  if (typeof dumped !== 'object' || dumped === null) return 'threw an object';
  const { name, message } = dumped as { name?: unknown; message?: unknown };
  return `${typeof name === 'string' ? name : 'Error'}: ${typeof message === 'string' ? message : ''}`;
}

const shortened = (text: string): string => text.slice(0, MAX_ERROR_LENGTH);
