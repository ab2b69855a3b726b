import { NOT_SIMPLE } from './not-simple.ts';

const TIME_FUNCTIONS = {
  hour: (s: number) => new Date(s * 1_000).getUTCHours(),
  minute: (s: number) => new Date(s * 1_000).getUTCMinutes(),
  second: (s: number) => new Date(s * 1_000).getUTCSeconds(),
  weekday: (s: number) => new Date(s * 1_000).getUTCDay(),
  seconds_since: (s: number, nowMs: number) => nowMs / 1_000 - s,
} as const;
const METHODS = ['indexOf', 'includes', 'startsWith', 'endsWith', 'hasOwnProperty'] as const;

/** Counts the work of a search. */
interface Budget {
  /** @throws NOT_SIMPLE when it is too much */
  spend(work: number): void;
}

/** The product of the lengths of two texts above which a search is left to the engine. */
const MAX_SEARCH = 1_000_000;
const SEARCH_PER_STEP = 100;

type TimeFunction = keyof typeof TIME_FUNCTIONS;
type Method = (typeof METHODS)[number];

export const isTimeFunction = (name: string): name is TimeFunction => Object.hasOwn(TIME_FUNCTIONS, name);
export const isMethod = (name: string): name is Method => (METHODS as readonly string[]).includes(name);

/** Calls a function of the prelude, for which everything but a number is 0. */
export function callTimeFunction(name: TimeFunction, given: unknown, nowMs: number): number {
  const seconds = typeof given === 'number' && Number.isFinite(given) ? Math.trunc(given) : 0;
  return TIME_FUNCTIONS[name](seconds, nowMs);
}

/**
 * Calls a method of a text, a list or an object.
 * @throws NOT_SIMPLE for other receivers and arguments, and for long searches
 */
export function callMethod(name: Method, receiver: unknown, given: unknown, budget: Budget): unknown {
  if (typeof receiver === 'string') return searchText(name, receiver, given, budget);
  if (typeof receiver !== 'object' || receiver === null) throw NOT_SIMPLE;
  if (typeof given === 'object' && given !== null) throw NOT_SIMPLE;
  if (Array.isArray(receiver)) {
    budget.spend(receiver.length);
    if (name === 'indexOf') return receiver.indexOf(given);
    if (name === 'includes') return receiver.includes(given);
    throw NOT_SIMPLE;
  }
  if (name !== 'hasOwnProperty' || Object.hasOwn(receiver, name) || typeof given !== 'string') throw NOT_SIMPLE;
  return Object.hasOwn(receiver, given);
}

function searchText(name: Method, text: string, given: unknown, budget: Budget): unknown {
  if (typeof given !== 'string') throw NOT_SIMPLE;
  const search = text.length * given.length;
  if (search > MAX_SEARCH) throw NOT_SIMPLE;
  budget.spend((search + text.length) / SEARCH_PER_STEP);
  if (name === 'indexOf') return text.indexOf(given);
  if (name === 'includes') return text.includes(given);
  if (name === 'startsWith') return text.startsWith(given);
  if (name === 'endsWith') return text.endsWith(given);
  throw NOT_SIMPLE;
}
