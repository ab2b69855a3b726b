import { LRUCache } from 'lru-cache';
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { atMost } from '../ports/at-most.ts';
import { HostFunctions } from './host-functions.ts';
import { engineFailure, type Failure, type LimitedRuntime, OUT_OF_TIME } from './limited-runtime.ts';

/** Beyond this number of compiled expressions, the one that was used least recently is compiled again when it is needed. */
const MAX_CACHED_FUNCTIONS = 200;
/** A context is replaced after this many events, so that leaks do not accumulate. */
const MAX_EVENTS = 10_000;

/** The value of an expression as text, and whether it is truthy. */
export interface Value {
  type: 'value';
  isTruthy: boolean;
  text: string;
}

/** Parses the prelude's description of a value. */
export const valueOf = (result: string): Value => ({
  type: 'value',
  isTruthy: result.startsWith('1'),
  text: result.slice(1),
});

/**
 * A context of one namespace that evaluates pure expressions, each compiled once, for one event after the other. Pure
 * expressions leave nothing behind.
 */
export class ReusedContext {
  readonly runtime: LimitedRuntime;
  readonly #context: QuickJSContext;
  readonly #host: HostFunctions;
  readonly #functions = new LRUCache<string, QuickJSHandle>({
    ...atMost(MAX_CACHED_FUNCTIONS),
    dispose: (handle) => {
      handle.dispose();
    },
  });
  #events = 0;
  #isBroken = false;

  constructor(runtime: LimitedRuntime) {
    this.runtime = runtime;
    this.#context = this.runtime.newContext();
    this.#host = new HostFunctions(this.#context);
  }

  get isUsedUp(): boolean {
    return this.#events >= MAX_EVENTS;
  }

  /** Sets the event, as JSON, for the following evaluations. Returns a failure of the engine. */
  begin(event: string, nowMs: number): Failure | undefined {
    this.#events += 1;
    return this.#guarded(() => {
      this.#host.run('begin', event, nowMs);
      return undefined;
    });
  }

  evaluate(source: string): Value | Failure {
    return this.#guarded<Value | Failure>(() => {
      const compiled = this.#compiled(source);
      if ('type' in compiled) return compiled;
      const result = this.runtime.limited(() => this.#host.tryCall('resultOf', compiled));
      if (result.error) return this.runtime.failureOf(this.#context, result.error);
      return valueOf(result.value.consume((handle) => this.#context.getString(handle)));
    });
  }

  dispose(): void {
    if (this.#isBroken) return;
    this.#functions.clear();
    this.#host.dispose();
    this.#context.dispose();
    this.runtime.dispose();
  }

  /** An error of the engine itself makes the context unusable; it cannot even be disposed of. */
  #guarded<T>(run: () => T): T | Failure {
    try {
      return run();
    } catch (error) {
      if (this.runtime.ranOutOfTime) return OUT_OF_TIME;
      this.#isBroken = true;
      return engineFailure(error);
    }
  }

  #compiled(source: string): QuickJSHandle | Failure {
    const known = this.#functions.get(source);
    if (known !== undefined) return known;
    const program = `(function (event) { return (${source}\n); })`;
    const result = this.runtime.limited(() => this.#context.evalCode(program, 'expression.js'));
    if (result.error) return this.runtime.failureOf(this.#context, result.error);
    this.#functions.set(source, result.value);
    return result.value;
  }
}
