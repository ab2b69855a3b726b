import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten';
import type { PredicateTask, Verdict } from './messages.ts';
import { PRELUDE } from './prelude.ts';

const MEMORY_LIMIT_BYTES = 16 * 1024 * 1024;
const STACK_LIMIT_BYTES = 256 * 1024;
/** A runtime is used so often: what one leaves behind does not add up. */
const MAX_EVALUATIONS = 10_000;
const MAX_ERROR_LENGTH = 200;
const OUT_OF_TIME: Verdict = { type: 'limit', error: 'took too long' };

/** JavaScript of users, each time on fresh globals, with limits of time, memory and stack. Nothing of the host is in reach of it. */
export class Engine {
  readonly #quickJs: QuickJSWASMModule;
  readonly #nowMs: () => number;
  #runtime: QuickJSRuntime | undefined;
  #evaluations = 0;
  #stopAtMs = Infinity;
  #ranOutOfTime = false;

  /** `nowMs` measures how long a program runs. */
  constructor(quickJs: QuickJSWASMModule, nowMs: () => number) {
    this.#quickJs = quickJs;
    this.#nowMs = nowMs;
  }

  /** Whether all programs hold for a value. */
  decide(task: Omit<PredicateTask, 'values'>, value: string): Verdict {
    const runtime = this.#take();
    this.#ranOutOfTime = false;
    this.#stopAtMs = Infinity;
    const context = runtime.newContext();
    try {
      return this.#inContext(context, task, value);
    } catch (error) {
      if (this.#ranOutOfTime) return OUT_OF_TIME;
      // The engine itself failed: what it leaves is not to be trusted.
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
        this.#ranOutOfTime ||= this.#nowMs() >= this.#stopAtMs;
        return this.#ranOutOfTime;
      });
    }
    this.#evaluations += 1;
    return this.#runtime;
  }

  #inContext(context: QuickJSContext, task: Omit<PredicateTask, 'values'>, value: string): Verdict {
    const { global } = context;
    // Taken before a program can put others in their place.
    const toBoolean = context.getProp(global, 'Boolean');
    try {
      context.newNumber(task.nowMs).consume((now) => {
        context.setProp(global, 'nowMs', now);
      });
      context.unwrapResult(context.evalCode(PRELUDE, 'prelude.js')).dispose();
      parseJson(context, value).consume((parsed) => {
        context.setProp(global, task.variable, parsed);
      });
      this.#stopAtMs = this.#nowMs() + task.limitMs;
      for (const program of task.programs) {
        const verdict = this.#run(context, program, toBoolean);
        if (verdict.type !== 'holds') return verdict;
      }
      return { type: 'holds' };
    } finally {
      toBoolean.dispose();
    }
  }

  #run(context: QuickJSContext, program: string, toBoolean: QuickJSHandle): Verdict {
    const result = context.evalCode(program, 'expression.js');
    if (result.error) return this.#thrown(context, result.error);
    const truth = result.value.consume((completion) =>
      context.unwrapResult(context.callFunction(toBoolean, context.undefined, completion)),
    );
    return truth.consume((handle) => (context.dump(handle) === true ? { type: 'holds' } : { type: 'fails' }));
  }

  #thrown(context: QuickJSContext, error: QuickJSHandle): Verdict {
    const text = error.consume((handle) => errorText(context, handle));
    if (this.#ranOutOfTime) return OUT_OF_TIME;
    if (text === 'InternalError: out of memory') return { type: 'limit', error: 'took too much memory' };
    return { type: 'fault', error: shortened(text) };
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

/** What was thrown may have properties that run: they have the same limit. */
function errorText(context: QuickJSContext, error: QuickJSHandle): string {
  const type = context.typeof(error);
  if (type !== 'object') return `threw ${type === 'symbol' ? 'a symbol' : String(context.dump(error))}`;
  const dumped: unknown = context.dump(error);
  if (typeof dumped !== 'object' || dumped === null) return 'threw an object';
  const { name, message } = dumped as { name?: unknown; message?: unknown };
  return `${typeof name === 'string' ? name : 'Error'}: ${typeof message === 'string' ? message : ''}`;
}

const shortened = (text: string): string => text.slice(0, MAX_ERROR_LENGTH);
