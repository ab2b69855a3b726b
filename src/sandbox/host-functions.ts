import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import type { LookedUp } from './lookups.ts';
import { PRELUDE } from './prelude.ts';

/** The functions of the prelude that the host calls. */
type HostFunction =
  | 'setNow'
  | 'setVariable'
  | 'prepareFilter'
  | 'prepareMutator'
  | 'addFound'
  | 'takeWanted'
  | 'setEvent'
  | 'carryEvent'
  | 'eventText'
  | 'begin'
  | 'resultOf'
  | 'result'
  | 'isTruthy'
  | 'takeWritten';

/** The prelude of one context. Its functions work whatever a program replaces. */
export class HostFunctions {
  readonly #context: QuickJSContext;
  readonly #functions: QuickJSHandle;
  readonly #read = new Map<HostFunction, QuickJSHandle>();

  constructor(context: QuickJSContext) {
    this.#context = context;
    this.#functions = context.unwrapResult(context.evalCode(PRELUDE, 'prelude.js'));
  }

  /** Calls a function with texts, numbers or handles. @throws when it throws */
  call(name: HostFunction, ...args: readonly (string | number | QuickJSHandle)[]): QuickJSHandle {
    const result = this.tryCall(name, ...args);
    return this.#context.unwrapResult(result);
  }

  tryCall(name: HostFunction, ...args: readonly (string | number | QuickJSHandle)[]) {
    const context = this.#context;
    const own: QuickJSHandle[] = [];
    const handles = args.map((value) => {
      if (typeof value === 'object') return value;
      const handle = typeof value === 'string' ? context.newString(value) : context.newNumber(value);
      own.push(handle);
      return handle;
    });
    try {
      return context.callFunction(this.#function(name), context.undefined, ...handles);
    } finally {
      for (const handle of own) handle.dispose();
    }
  }

  /** Calls a function that returns nothing. */
  run(name: HostFunction, ...args: readonly (string | number | QuickJSHandle)[]): void {
    this.call(name, ...args).dispose();
  }

  /** Calls a function that returns a string. */
  text(name: HostFunction, ...args: readonly (string | number | QuickJSHandle)[]): string {
    return this.call(name, ...args).consume((handle) => this.#context.getString(handle));
  }

  /** Makes events available to the programs. */
  addFound(lookedUp: LookedUp): void {
    for (const [key, value] of Object.entries(lookedUp)) this.run('addFound', key, value);
  }

  dispose(): void {
    for (const handle of this.#read.values()) handle.dispose();
    this.#functions.dispose();
  }

  #function(name: HostFunction): QuickJSHandle {
    let handle = this.#read.get(name);
    if (handle === undefined) {
      handle = this.#context.getProp(this.#functions, name);
      this.#read.set(name, handle);
    }
    return handle;
  }
}
