import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten';
import type { Event } from '../resources/event.ts';
import { filterEvent } from './filter-event.ts';
import { HostFunctions } from './host-functions.ts';
import { type Failure, LimitedRuntime } from './limited-runtime.ts';
import type { LookedUp } from './lookups.ts';
import type { FilterAnswer, FilterRequest, FilterResult, StoredFilter } from './messages.ts';
import { PureFilters } from './pure-filters.ts';
import { withJavaScriptPatterns } from './re2-literals.ts';
import { ReusedContext, type Value, valueOf } from './reused-context.ts';

/** The limit of what the expressions of one filter write to the console. */
const MAX_CONSOLE_CHARACTERS = 1024;

/** An expression asked for an event that was not looked up. */
interface Asked {
  type: 'asked';
  wanted: string;
}

type Evaluated = Value | Failure | Asked;

/** The state of the evaluation of one filter. */
interface Progress {
  /** The variable `event` as JSON. */
  event: string;
  /** Whether an earlier expression of the filter may have changed the event. */
  isCarried: boolean;
  nowMs: number;
  libraries: readonly string[];
  lookedUp: LookedUp;
  /** The number of expressions after the current one. */
  left: number;
  console: string;
}

/** Evaluates the filters of an event in order, each expression with fresh globals, until one filter denies. */
export class FilterEngine {
  readonly #runtime: LimitedRuntime;
  readonly #pure: PureFilters;

  /** `nowMs` and `cpuMs` measure the run time of programs. */
  constructor(quickJs: QuickJSWASMModule, nowMs: () => number, cpuMs?: () => number | undefined) {
    this.#runtime = new LimitedRuntime(quickJs, nowMs, cpuMs);
    this.#pure = new PureFilters(() => new ReusedContext(new LimitedRuntime(quickJs, nowMs, cpuMs)));
  }

  /** `begun` is called before each filter after the first one. */
  decide(request: FilterRequest, begun: (filter: number) => void): FilterAnswer {
    const { filters, nowMs, limitMs, lookedUp } = request;
    const event: Event = typeof request.event === 'string' ? (JSON.parse(request.event) as Event) : request.event;
    const notes: string[] = [];
    let written = '';
    let json: string | undefined;
    for (const [index, filter] of filters.entries()) {
      if (index > 0) begun(index);
      let end: FilterResult | Asked | undefined;
      const before = notes.length;
      if (this.#pure.has(filter)) {
        const evaluate = this.#pure.prepare(request.namespace, filter, event, nowMs, limitMs);
        end = endBy(filter, evaluate, notes);
      } else {
        json ??= JSON.stringify(filterEvent(event));
        const progress: Progress = {
          event: json,
          isCarried: false,
          nowMs,
          libraries: filter.libraries,
          lookedUp,
          left: filter.expressions.length,
          console: '',
        };
        this.#runtime.setBudget(limitMs, index === 0 ? request.spentMs : 0);
        end = endBy(filter, (expression) => this.#evaluate(expression, progress), notes);
        // The evaluation of a filter that asked for an event is repeated, with what it writes.
        if (end === undefined || !('wanted' in end)) written += progress.console;
      }
      if (end === undefined) continue;
      if (!('wanted' in end)) return { result: end, console: written, isStopped: 'failed' in end };
      const { wanted } = end;
      const result = { wanted, filter: index, notes: notes.slice(0, before), usedMs: this.#runtime.usedMs };
      return { result, console: written, isStopped: false };
    }
    return { result: { passes: true, notes }, console: written, isStopped: false };
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
    progress.left -= 1;
    host.run('setNow', progress.nowMs);
    host.run('prepareFilter');
    host.addFound(progress.lookedUp);
    host.run(progress.isCarried ? 'carryEvent' : 'setEvent', progress.event);
    for (const library of progress.libraries) {
      const failure = this.#run(context, library);
      if (failure !== undefined) return failure.type === 'limit' ? failure : (askedFor(host) ?? failure);
    }
    // The semicolon keeps a directive from making the program strict, as in the reference.
    const program = `;${withJavaScriptPatterns(expression)}`;
    const result = this.#runtime.limited(() => context.evalCode(program, 'expression.js'));
    const evaluated = result.error ? this.#runtime.failureOf(context, result.error) : this.#value(host, result.value);
    const asked = evaluated.type === 'limit' ? undefined : askedFor(host);
    if (asked !== undefined) return asked;
    progress.console = (progress.console + host.text('takeWritten')).slice(0, MAX_CONSOLE_CHARACTERS);
    if (evaluated.type !== 'limit' && progress.left > 0) this.#carry(context, host, progress);
    return evaluated;
  }

  #value(host: HostFunctions, completion: QuickJSHandle): Value {
    return valueOf(completion.consume((value) => host.text('result', value)));
  }

  /** Returns how the library failed. */
  #run(context: QuickJSContext, library: string): Failure | undefined {
    const result = this.#runtime.limited(() => context.evalCode(library, 'library.js'));
    if (result.error) return this.#runtime.failureOf(context, result.error);
    result.value.dispose();
    return undefined;
  }

  /** Makes the changes of the event visible to later expressions of the filter, if it can still be written as JSON. */
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

/** A program may have caught the error of the call, so that only this shows that it asked for an event. */
function askedFor(host: HostFunctions): Asked | undefined {
  const wanted = host.text('takeWanted');
  return wanted === '' ? undefined : { type: 'asked', wanted };
}

/**
 * Evaluates the expressions of a filter in order until one decides or asks for an event. An expression that throws is
 * noted and left out.
 */
function endBy(
  filter: StoredFilter,
  evaluate: (expression: string) => Evaluated,
  notes: string[],
): FilterResult | Asked | undefined {
  const { name, action, expressions } = filter;
  for (const expression of expressions) {
    const evaluated = evaluate(expression);
    if (evaluated.type === 'asked') return evaluated;
    if (evaluated.type === 'limit') return { passes: false, filter: name, failed: evaluated.error };
    if (evaluated.type === 'error') notes.push(`${name}: ${expression} threw ${evaluated.error}`);
    else if (evaluated.isTruthy === (action === 'deny')) {
      return { passes: false, filter: name, expression, value: evaluated.text };
    }
  }
  return undefined;
}
