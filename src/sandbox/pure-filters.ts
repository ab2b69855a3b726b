import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Event } from '../resources/event.ts';
import { filterEvent, filterMember } from './filter-event.ts';
import type { Failure } from './limited-runtime.ts';
import type { StoredFilter } from './messages.ts';
import { type PureExpression, pureExpression } from './pure-expression.ts';
import type { ReusedContext, Value } from './reused-context.ts';

/** Beyond this number of namespaces, the context that was used least recently is disposed of. */
const MAX_CACHED_CONTEXTS = 16;
/** Beyond this number of expressions, the one that was used least recently is parsed again when it is needed. */
const MAX_CACHED_PROGRAMS = 1_000;

type Fields = Record<string, unknown>;

/** Evaluates one expression for a given event. */
export type Evaluate = (expression: string) => Value | Failure;

/** Filters whose expressions are all pure. They are evaluated in a context of their namespace, which is kept for the next event. */
export class PureFilters {
  readonly #makeContext: () => ReusedContext;
  readonly #contexts = new LRUCache<string, ReusedContext>({
    ...atMost(MAX_CACHED_CONTEXTS),
    dispose: (context) => {
      context.dispose();
    },
  });
  readonly #programs = new LRUCache<string, PureExpression | false>(atMost(MAX_CACHED_PROGRAMS));

  constructor(makeContext: () => ReusedContext) {
    this.#makeContext = makeContext;
  }

  has({ expressions, libraries }: StoredFilter): boolean {
    return libraries.length === 0 && expressions.every((expression) => this.#pure(expression) !== undefined);
  }

  /** Prepares the evaluation of the expressions of one filter, which `has` returned true for. */
  prepare(namespace: string, { expressions }: StoredFilter, event: Event, nowMs: number, limitMs: number): Evaluate {
    const context = this.#contextOf(namespace);
    const failure = context.begin(this.#projected(event, expressions), nowMs);
    context.runtime.setBudget(limitMs);
    return (expression) => {
      const value = failure ?? context.evaluate(this.#pure(expression)?.source ?? expression);
      // What was stopped may have left the context in any state.
      if (value.type === 'limit') this.#contexts.delete(namespace);
      return value;
    };
  }

  #pure(expression: string): PureExpression | undefined {
    let pure = this.#programs.get(expression);
    if (pure === undefined) {
      pure = pureExpression(expression) ?? false;
      this.#programs.set(expression, pure);
    }
    return pure || undefined;
  }

  #contextOf(namespace: string): ReusedContext {
    const known = this.#contexts.get(namespace);
    if (known !== undefined && !known.isUsedUp) return known;
    const context = this.#makeContext();
    this.#contexts.set(namespace, context);
    return context;
  }

  /** The JSON of the parts of the event that the expressions read. Parsing it takes most of the time of an evaluation. */
  #projected(event: Event, expressions: readonly string[]): string {
    const result: Fields = {};
    const whole: Fields = {};
    for (const expression of expressions) {
      const members = this.#pure(expression)?.members;
      if (members === undefined) return JSON.stringify(filterEvent(event));
      for (const path of members) {
        const [name = '', member] = path.split('.', 2);
        if (!Object.hasOwn(whole, name)) whole[name] = filterMember(event, name);
        if (member === undefined) result[name] = whole[name];
        else if (result[name] !== whole[name]) result[name] = withMember(result[name], whole[name], member);
      }
    }
    return JSON.stringify(result);
  }
}

/** Adds a member of `whole` to the part of it that was chosen before. */
function withMember(part: unknown, whole: unknown, member: string): unknown {
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return whole;
  const chosen = (part ?? {}) as Fields;
  if (Object.hasOwn(whole, member)) chosen[member] = (whole as Fields)[member];
  return chosen;
}
