import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten';

const MEMORY_LIMIT_BYTES = 16 * 1024 * 1024;
const STACK_LIMIT_BYTES = 256 * 1024;
/** A runtime is replaced after this many contexts, so that leaks do not accumulate. */
const MAX_CONTEXTS = 10_000;
/**
 * While the memory of the module is larger, each context has a runtime of its own. A context that is disposed of leaves its garbage
 * to the runtime, and the engine does not count the contents of large blocks towards the memory limit.
 */
const MAX_SHARED_BYTES = 32 * 1024 * 1024;
const MAX_ERROR_LENGTH = 200;
/** The longest gap between two readings of the clock that counts in full. A longer one means that the thread was not scheduled. */
const MAX_GAP_MS = 10;
/** A program is stopped after this multiple of its limit by the clock, even if its thread was not scheduled. */
const MAX_CLOCK_FACTOR = 4;

/** The error that a program threw, or the limit at which it was stopped. */
export type Failure = { type: 'error'; error: string } | { type: 'limit'; error: string };

/** How the engine reports that it stopped a program at a limit. */
const ENGINE_LIMITS: Readonly<Record<string, string>> = {
  'InternalError: out of memory': 'took too much memory',
  'InternalError: stack overflow': 'took too much stack',
  'InternalError: string too long': 'took too much memory',
};

export const OUT_OF_TIME: Failure = { type: 'limit', error: 'took too long' };

/** A QuickJS runtime whose programs run without access to the host and with limits of time, memory and stack. */
export class LimitedRuntime {
  readonly #quickJs: QuickJSWASMModule;
  readonly #nowMs: () => number;
  readonly #cpuMs: () => number | undefined;
  #runtime: QuickJSRuntime | undefined;
  #contexts = 0;
  /** Undefined while no program of a user runs. */
  #limitMs: number | undefined;
  #budgetMs = Infinity;
  #startedAtMs = 0;
  #seenAtMs = 0;
  #usedMs = 0;
  /** The CPU time of the thread at the end of the last long gap. */
  #cpuSeenMs: number | undefined;
  #clockMs = 0;
  #ranOutOfTime = false;

  /**
   * `nowMs` measures the run time of programs. `cpuMs`, which may take longer, is the CPU time of the thread where it is
   * known: it distinguishes a thread that was not scheduled from a program that seldom checks the clock.
   */
  constructor(quickJs: QuickJSWASMModule, nowMs: () => number, cpuMs: () => number | undefined = () => undefined) {
    this.#quickJs = quickJs;
    this.#nowMs = nowMs;
    this.#cpuMs = cpuMs;
  }

  /** Whether a program exceeded its time and was stopped since the last budget. */
  get ranOutOfTime(): boolean {
    return this.#ranOutOfTime;
  }

  /** The CPU time that was used of the budget, ms. */
  get usedMs(): number {
    return this.#usedMs;
  }

  /** Sets the CPU time of all that runs until the next budget, and the part of it that is used up, ms. */
  setBudget(budgetMs: number, usedMs = 0): void {
    this.#budgetMs = budgetMs;
    this.#usedMs = usedMs;
    this.#clockMs = usedMs;
    this.#cpuSeenMs = undefined;
    this.#ranOutOfTime = false;
  }

  /** Runs in a context of its own, which is disposed of afterwards. A failure of the engine itself costs the runtime. */
  inFreshContext<T>(use: (context: QuickJSContext) => T, failed: (failure: Failure) => T): T {
    const runtime = this.#take();
    const context = runtime.newContext();
    try {
      return use(context);
    } catch (error) {
      if (this.#ranOutOfTime) return failed(OUT_OF_TIME);
      // The engine itself failed, so its runtime must not be reused.
      this.#runtime = undefined;
      return failed(engineFailure(error));
    } finally {
      this.#limitMs = undefined;
      if (this.#runtime !== undefined) context.dispose();
      if (this.#quickJs.getWasmMemory().buffer.byteLength > MAX_SHARED_BYTES) this.dispose();
    }
  }

  /** Opens a context that lives until the runtime is disposed of. */
  newContext(): QuickJSContext {
    return this.#take().newContext();
  }

  dispose(): void {
    this.#runtime?.dispose();
    this.#runtime = undefined;
  }

  /** Runs code of a user; its time counts towards the budget. */
  limited<T>(run: () => T): T {
    this.#limitMs = this.#budgetMs;
    this.#startedAtMs = this.#seenAtMs = this.#nowMs();
    try {
      return run();
    } finally {
      if (!this.#ranOutOfTime) this.#isOutOfTime();
      this.#clockMs += this.#seenAtMs - this.#startedAtMs;
      this.#limitMs = undefined;
    }
  }

  /** Reading the properties of a thrown object may run code, which counts towards the limits. Disposes of the error. */
  failureOf(context: QuickJSContext, error: QuickJSHandle): Failure {
    if (this.#ranOutOfTime) {
      error.dispose();
      return OUT_OF_TIME;
    }
    const text = error.consume((handle) => this.limited(() => errorText(context, handle)));
    if (this.#ranOutOfTime) return OUT_OF_TIME;
    const limit = ENGINE_LIMITS[text];
    if (limit !== undefined) return { type: 'limit', error: limit };
    return { type: 'error', error: shortened(text) };
  }

  #take(): QuickJSRuntime {
    if (this.#runtime !== undefined && this.#contexts >= MAX_CONTEXTS) {
      this.#runtime.dispose();
      this.#runtime = undefined;
    }
    if (this.#runtime === undefined) {
      this.#contexts = 0;
      this.#runtime = this.#quickJs.newRuntime();
      this.#runtime.setMemoryLimit(MEMORY_LIMIT_BYTES);
      this.#runtime.setMaxStackSize(STACK_LIMIT_BYTES);
      this.#runtime.setInterruptHandler(() => {
        this.#ranOutOfTime ||= this.#isOutOfTime();
        return this.#ranOutOfTime;
      });
    }
    this.#contexts += 1;
    return this.#runtime;
  }

  #isOutOfTime(): boolean {
    if (this.#limitMs === undefined) return false;
    const nowMs = this.#nowMs();
    this.#usedMs += this.#usedIn(nowMs - this.#seenAtMs);
    this.#seenAtMs = nowMs;
    const clockMs = this.#clockMs + nowMs - this.#startedAtMs;
    return this.#usedMs >= this.#limitMs || clockMs >= MAX_CLOCK_FACTOR * this.#limitMs;
  }

  /** The part of a gap that counts. The CPU time is read after long gaps only, so that the first one has no beginning. */
  #usedIn(gapMs: number): number {
    if (gapMs <= MAX_GAP_MS) return gapMs;
    const before = this.#cpuSeenMs;
    this.#cpuSeenMs = this.#cpuMs();
    if (before === undefined || this.#cpuSeenMs === undefined) return MAX_GAP_MS;
    return Math.min(gapMs, Math.max(MAX_GAP_MS, this.#cpuSeenMs - before));
  }
}

function errorText(context: QuickJSContext, error: QuickJSHandle): string {
  const type = context.typeof(error);
  if (type !== 'object') return `threw ${type === 'symbol' ? 'a symbol' : String(context.dump(error))}`;
  const dumped: unknown = context.dump(error);
  if (typeof dumped !== 'object' || dumped === null) return 'threw an object';
  const { name, message } = dumped as { name?: unknown; message?: unknown };
  return `${typeof name === 'string' ? name : 'Error'}: ${typeof message === 'string' ? message : ''}`;
}

/** The error that the engine itself threw, for example because memory ran out outside a program. */
export const engineFailure = (error: unknown): Failure => ({
  type: 'limit',
  error: shortened(`engine failed: ${String(error)}`),
});

const shortened = (text: string): string => text.slice(0, MAX_ERROR_LENGTH);
