import type { QuickJSContext, QuickJSWASMModule } from 'quickjs-emscripten';
import type { Event } from '../resources/event.ts';
import { filterEvent } from './filter-event.ts';
import { HostFunctions } from './host-functions.ts';
import { type Failure, LimitedRuntime } from './limited-runtime.ts';
import type { FilterAnswer, FilterRequest, FilterResult, StoredFilter } from './messages.ts';
import { withJavaScriptPatterns } from './re2-literals.ts';

/** The value of an expression as text, and whether it is truthy. */
interface Value {
  type: 'value';
  isTruthy: boolean;
  text: string;
}

type Evaluated = Value | Failure;

/** The state of the evaluation of one filter. */
interface Progress {
  /** The variable `event` as JSON. */
  event: string;
  /** Whether an earlier expression of the filter may have changed the event. */
  isCarried: boolean;
  nowMs: number;
  libraries: readonly string[];
  console: string;
}

/** Evaluates the filters of an event in order, each expression with fresh globals, until one filter denies. */
export class FilterEngine {
  readonly #runtime: LimitedRuntime;

  /** `nowMs` measures the run time of programs. */
  constructor(quickJs: QuickJSWASMModule, nowMs: () => number) {
    this.#runtime = new LimitedRuntime(quickJs, nowMs);
  }

  /** `begun` is called before each filter after the first one. */
  decide(request: FilterRequest, begun: (filter: number) => void): FilterAnswer {
    const { filters, nowMs } = request;
    const event: Event = typeof request.event === 'string' ? (JSON.parse(request.event) as Event) : request.event;
    const json = JSON.stringify(filterEvent(event));
    const notes: string[] = [];
    let written = '';
    for (const [index, filter] of filters.entries()) {
      if (index > 0) begun(index);
      const progress: Progress = { event: json, isCarried: false, nowMs, libraries: filter.libraries, console: '' };
      this.#runtime.setBudget(request.limitMs);
      const denial = this.#denialBy(filter, progress, notes);
      written += progress.console;
      if (denial !== undefined) return { result: denial, console: written, isStopped: 'failed' in denial };
    }
    return { result: { passes: true, notes }, console: written, isStopped: false };
  }

  #denialBy(filter: StoredFilter, progress: Progress, notes: string[]): FilterResult | undefined {
    const { name, action, expressions } = filter;
    for (const expression of expressions) {
      const evaluated = this.#evaluate(expression, progress);
      if (evaluated.type === 'limit') return { passes: false, filter: name, failed: evaluated.error };
      if (evaluated.type === 'error') notes.push(`${name}: ${expression} threw ${evaluated.error}`);
      else if (evaluated.isTruthy === (action === 'deny')) {
        return { passes: false, filter: name, expression, value: evaluated.text };
      }
    }
    return undefined;
  }

  #evaluate(expression: string, progress: Progress): Evaluated {
    return this.#runtime.inFreshContext<Evaluated>(
      (context) => {
        const host = new HostFunctions(context);
        try {
          return this.#inContext(context, host, expression, progress);
        } finally {
          host.dispose();
        }
      },
      (failure) => failure,
    );
  }

  #inContext(context: QuickJSContext, host: HostFunctions, expression: string, progress: Progress): Evaluated {
    host.run('setNow', progress.nowMs);
    host.run('prepareFilter');
    host.run(progress.isCarried ? 'carryEvent' : 'setEvent', progress.event);
    for (const library of progress.libraries) {
      const failure = this.#run(context, library);
      if (failure !== undefined) return failure;
    }
    // The semicolon keeps a directive from making the program strict, as in the reference.
    const program = `;${withJavaScriptPatterns(expression)}`;
    const result = this.#runtime.limited(() => context.evalCode(program, 'expression.js'));
    const evaluated = result.error ? this.#runtime.failureOf(context, result.error) : valueOf(host, result.value);
    progress.console = (progress.console + host.text('takeWritten')).slice(0, MAX_CONSOLE_CHARACTERS);
    if (evaluated.type !== 'limit') this.#carry(context, host, progress);
    return evaluated;
  }

  /** Returns how the library failed. */
  #run(context: QuickJSContext, library: string): Failure | undefined {
    const result = this.#runtime.limited(() => context.evalCode(library, 'library.js'));
    if (result.error) return this.#runtime.failureOf(context, result.error);
    result.value.dispose();
    return undefined;
  }

  /** Makes the changes of the event visible to later expressions of the filter, if it still can be written as JSON. */
  #carry(context: QuickJSContext, host: HostFunctions, progress: Progress): void {
    const result = this.#runtime.limited(() => host.tryCall('eventText'));
    if (result.error) {
      result.error.dispose();
      return;
    }
    result.value.consume((text) => {
      if (context.typeof(text) !== 'string') return;
      progress.event = context.getString(text);
      progress.isCarried = true;
    });
  }
}

const MAX_CONSOLE_CHARACTERS = 1024;

const valueOf = (host: HostFunctions, completion: Parameters<HostFunctions['text']>[1] & object): Value => {
  const verdict = completion.consume((value) => host.text('verdict', value));
  return { type: 'value', isTruthy: verdict.startsWith('1'), text: verdict.slice(1) };
};
