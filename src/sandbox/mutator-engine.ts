import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten';
import type { Event } from '../resources/event.ts';
import { bytesOfUuid, derived } from './filter-event.ts';
import { HostFunctions } from './host-functions.ts';
import { LimitedRuntime, type Failure } from './limited-runtime.ts';
import type { MutateAnswer, MutateRequest, LookupRequest } from './messages.ts';
import { MUTATOR_PRELUDE } from './mutator-prelude.ts';
import { withJavaScriptPatterns } from './re2-literals.ts';

/** The error of a mutator that exceeded its time and was stopped. */
export const MUTATOR_TIMEOUT = 'mutator timeout reached, execution halted';

type Result = { event: string } | { text: string } | { error: string } | LookupRequest;

/** Runs the function bodies of JavaScript mutators, each with fresh globals. */
export class MutatorEngine {
  readonly #runtime: LimitedRuntime;

  /** `nowMs` and `cpuMs` measure the run time of programs. */
  constructor(quickJs: QuickJSWASMModule, nowMs: () => number, cpuMs?: () => number | undefined) {
    this.#runtime = new LimitedRuntime(quickJs, nowMs, cpuMs);
  }

  mutate(request: MutateRequest): MutateAnswer {
    let written = '';
    let isStopped = false;
    const failed = (failure: Failure): Result => {
      isStopped = failure.type === 'limit';
      return { error: this.#runtime.ranOutOfTime ? MUTATOR_TIMEOUT : failure.error };
    };
    this.#runtime.setBudget(request.limitMs, request.spentMs);
    const result = this.#runtime.inFreshContext<Result>((context) => {
      const host = new HostFunctions(context);
      const mutator = context.unwrapResult(context.evalCode(MUTATOR_PRELUDE, 'prelude.js'));
      try {
        this.#prepare(context, host, mutator, request);
        const outcome = this.#run(context, mutator, request);
        const wanted = this.#runtime.ranOutOfTime ? '' : host.text('takeWanted');
        if (wanted !== '') return { wanted, usedMs: this.#runtime.usedMs };
        written = host.text('takeWritten');
        return 'error' in outcome && typeof outcome.error === 'object' ? failed(outcome.error) : (outcome as Result);
      } finally {
        mutator.dispose();
        host.dispose();
      }
    }, failed);
    return { ...result, console: written, isStopped };
  }

  #prepare(context: QuickJSContext, host: HostFunctions, mutator: QuickJSHandle, request: MutateRequest): void {
    const event = typeof request.event === 'string' ? (JSON.parse(request.event) as Event) : request.event;
    const { has_check, has_metrics, is_incident, is_resolution, is_silenced, is_flapping_start } = derived(event);
    const methods = {
      HasCheck: has_check,
      HasMetrics: has_metrics,
      IsIncident: is_incident,
      IsResolution: is_resolution,
      IsSilenced: is_silenced,
      IsFlappingStart: is_flapping_start,
      IsFlappingEnd: false,
    };
    host.run('setNow', request.nowMs);
    host.run('prepareMutator');
    host.addFound(request.lookedUp);
    this.#call(context, mutator, 'setVariables', [JSON.stringify(request.variables)]);
    const json = typeof request.event === 'string' ? request.event : jsonOf(request.event);
    const bytes = JSON.stringify(bytesOfUuid(event.id ?? ''));
    this.#call(context, mutator, 'setMutable', [json, bytes, JSON.stringify(methods)]);
  }

  #call(context: QuickJSContext, mutator: QuickJSHandle, name: string, texts: readonly string[]): void {
    const handles = texts.map((text) => context.newString(text));
    try {
      const result = context
        .getProp(mutator, name)
        .consume((callee) => context.callFunction(callee, context.undefined, ...handles));
      context.unwrapResult(result).dispose();
    } finally {
      for (const handle of handles) handle.dispose();
    }
  }

  #run(context: QuickJSContext, mutator: QuickJSHandle, request: MutateRequest): Result | { error: Failure } {
    for (const library of request.libraries) {
      const ran = this.#runtime.limited(() => context.evalCode(library, 'library.js'));
      if (ran.error) return { error: this.#runtime.failureOf(context, ran.error) };
      ran.value.dispose();
    }
    // As in the reference, a comment in the last line of the body needs a line feed after it.
    const program = `(function () {${withJavaScriptPatterns(request.body)}})()`;
    const returned = this.#runtime.limited(() => context.evalCode(program, 'mutator.js'));
    if (returned.error) return { error: this.#runtime.failureOf(context, returned.error) };
    const finished = returned.value.consume((value) =>
      this.#runtime.limited(() =>
        context.getProp(mutator, 'finish').consume((finish) => context.callFunction(finish, context.undefined, value)),
      ),
    );
    if (finished.error) return { error: this.#runtime.failureOf(context, finished.error) };
    return resultOf(finished.value.consume((handle) => context.getString(handle)));
  }
}

function resultOf(finished: string): Result {
  const text = finished.slice(1);
  if (finished.startsWith('e')) return { event: text };
  if (finished.startsWith('t')) return { text };
  return { error: `bad mutator result: got "${text}", want string or undefined` };
}

/** JSON lacks exact integers beyond 2^53; the sandbox restores those that the body leaves unchanged. */
const jsonOf = (event: Event): string =>
  JSON.stringify(event, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
