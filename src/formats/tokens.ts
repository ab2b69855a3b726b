import { type Operand, parseTemplate, TokenError } from './token-template.ts';

/** The value of a missing key. It is no error in the middle of a path. */
const NO_VALUE = Symbol('no value');
const NO_VALUE_TEXT = '<no value>';

type Functions = Record<string, (...args: unknown[]) => unknown>;

const FUNCTIONS: Functions = {
  default: (fallback, ...values) => (values.length > 0 && !isMissing(values.at(-1)) ? values.at(-1) : fallback),
  index: (from, ...keys) => keys.reduce(member, from),
  assetPath: (name) =>
    `${String(name)
      .replace(/[^A-Za-z0-9]/g, '_')
      .toUpperCase()}_PATH`,
};

const isMissing = (value: unknown): boolean => value === NO_VALUE || value === null || value === undefined;

/**
 * Replaces the tokens in all texts of a value, `{{ .labels.url | default "x" }}`, by values of `data`; keys stay unchanged. Supports
 * Go templates without control structures. @throws TokenError with the key of the text and the token
 */
export function substituteTokens<T>(value: T, data: object): T {
  return filled(value, '', data) as T;
}

function filled(value: unknown, key: string, data: object): unknown {
  if (typeof value === 'string') return rendered(value, key, data);
  if (Array.isArray(value)) return value.map((item) => filled(item, key, data));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filled(item, name, data)]));
}

function rendered(template: string, key: string, data: object): string {
  if (!template.includes('{{')) return template;
  const missing: string[] = [];
  let text = '';
  for (const piece of parsed(template, key)) {
    text += piece.type === 'text' ? piece.text : textOf(new Evaluation(data, key, missing).value(piece.pipeline));
  }
  if (!text.includes(NO_VALUE_TEXT)) return text;
  const [reason = 'found an undefined value but could not identify the token'] = missing;
  throw new TokenError(`${key}: unmatched token: ${reason}`);
}

function parsed(template: string, key: string) {
  try {
    return parseTemplate(template);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    throw new TokenError(`${key}: could not parse the template: template: ${key}: ${error.message}`, { cause: error });
  }
}

class Evaluation {
  readonly #data: object;
  readonly #key: string;
  /** The reasons why paths have no value. */
  readonly #missing: string[];

  constructor(data: object, key: string, missing: string[]) {
    this.#data = data;
    this.#key = key;
    this.#missing = missing;
  }

  value(operand: Operand): unknown {
    switch (operand.type) {
      case 'constant':
        return operand.value;
      case 'path':
        return this.#pathValue(operand);
      case 'function':
        return this.#call(operand.name, []);
      case 'pipeline': {
        const [first = [], ...others] = operand.commands;
        return others.reduce((value, command) => this.#command(command, [value]), this.#command(first, []));
      }
    }
  }

  #command([first, ...others]: readonly Operand[], piped: unknown[]): unknown {
    if (first === undefined) throw new TokenError(`${this.#key}: a command without a value`);
    const args = [...others.map((operand) => this.value(operand)), ...piped];
    if (first.type === 'function') return this.#call(first.name, args);
    if (args.length > 0)
      throw new TokenError(`${this.#key}: could not execute the template: a value cannot have arguments`);
    return this.value(first);
  }

  #call(name: string, args: unknown[]): unknown {
    const run = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (run !== undefined) return run(...args);
    const reason = `template: ${this.#key}:1: function ${JSON.stringify(name)} not defined`;
    throw new TokenError(`${this.#key}: could not parse the template: ${reason}`);
  }

  #pathValue({ keys, text, at }: Extract<Operand, { type: 'path' }>): unknown {
    const where = `template: ${this.#key}:${at}: executing "${this.#key}" at <${text}>`;
    let value: unknown = this.#data;
    for (const key of keys) {
      if (isMissing(value)) return NO_VALUE;
      if (typeof value !== 'object' || Array.isArray(value)) {
        throw new TokenError(
          `could not execute the template: ${where}: can't evaluate field ${key} in type interface {}`,
        );
      }
      value = member(value, key);
      if (value === NO_VALUE) this.#missing.push(`${where}: map has no entry for key "${key}"`);
    }
    return value;
  }
}

/** @throws TokenError for an index outside a list */
function member(from: unknown, key: unknown): unknown {
  if (isMissing(from)) return NO_VALUE;
  if (Array.isArray(from)) {
    if (typeof key === 'number' && Object.hasOwn(from, key)) return from[key] as unknown;
    throw new TokenError(`could not execute the template: index out of range: ${String(key)}`);
  }
  if (typeof from !== 'object' || from === null) {
    throw new TokenError(`could not execute the template: can't index item of type ${typeof from}`);
  }
  const name = String(key);
  return Object.hasOwn(from, name) ? (from as Record<string, unknown>)[name] : NO_VALUE;
}

function textOf(value: unknown): string {
  if (isMissing(value)) return NO_VALUE_TEXT;
  if (Array.isArray(value)) return `[${value.map(textOf).join(' ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `map[${entries.map(([key, item]) => `${key}:${textOf(item)}`).join(' ')}]`;
}
