import { Budget, type TemplateLimits } from './template/budget.ts';
import { executeTemplate } from './template/execute.ts';
import { parseTemplate, type Template } from './template/parser.ts';
import { TemplateError } from './template/template-error.ts';
import { TOKEN_FUNCTIONS } from './token-functions.ts';

/** The text that templates print for a key that the map does not have. A text that contains it counts as not filled. */
const NO_VALUE_TEXT = '<no value>';
const OPEN = '{{';

/** The maximum number of lexemes, such as `{{`, `.name` and `}}`, in all texts of a value. */
const MAX_LEXEMES = 20_000;

/** The limits of one filled value. The bytes include the texts without tokens. */
export const TOKEN_LIMITS: TemplateLimits = { maxBytes: 1024 * 1024, maxSteps: 50_000 };

/** The characters of an error message that are kept. */
const MAX_MESSAGE = 4_000;

/** A text with tokens that cannot be parsed or filled. The message has the wording of the reference. */
export class TokenError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.slice(0, MAX_MESSAGE), options);
  }
}

/** Tokens whose values make a value longer than its limit. */
export class TokensTooLong extends TokenError {}

type Parsed =
  | { type: 'constant'; value: unknown }
  | { type: 'text'; key: string; template: Template | TokenError }
  | { type: 'list'; key: string; items: readonly Parsed[] }
  | { type: 'map'; entries: readonly (readonly [key: string, value: Parsed])[] };

export interface Filled<T> {
  value: T;
  /** The size of its texts, UTF-8 bytes. */
  bytes: number;
}

/** A value, such as a check, whose texts may contain tokens: `{{ .labels.url | default "x" }}`. It is parsed once and can be filled for many entities. */
export class TokenTemplate<T> {
  readonly #parsed: Parsed;
  readonly #parser = new TextParser();

  /** Does not throw: a text that cannot be parsed fails when it is filled. `key` names texts outside a map. */
  constructor(value: T, key = '') {
    this.#parsed = this.#parser.parsed(value, key);
  }

  /** A measure of the memory that it takes, in addition to its value. */
  get size(): number {
    return this.#parser.lexemes;
  }

  /** Replaces the tokens of all texts by values of `data`; keys stay unchanged. @throws TokenError; TokensTooLong */
  fill(data: object, limits = TOKEN_LIMITS): Filled<T> {
    const budget = new Budget(limits);
    if (this.#parsed.type === 'constant') return { value: this.#parsed.value as T, bytes: this.#parser.constantBytes };
    const filling = new Filling(data, budget);
    filling.count(this.#parser.constantBytes);
    return { value: filling.filled(this.#parsed) as T, bytes: budget.bytes };
  }
}

/** Replaces the tokens of a value that is filled only once. @throws TokenError; TokensTooLong */
export const substituteTokens = <T>(value: T, data: object): T => new TokenTemplate(value).fill(data).value;

class TextParser {
  lexemes = 0;
  /** The bytes of the texts without tokens. */
  constantBytes = 0;

  /** `key` is the one that the value has in the nearest map. */
  parsed(value: unknown, key: string): Parsed {
    if (typeof value === 'string') return this.#text(value, key);
    if (typeof value !== 'object' || value === null) return { type: 'constant', value };
    if (Array.isArray(value)) {
      const items = value.map((item) => this.parsed(item, key));
      return items.every(isConstant) ? { type: 'constant', value } : { type: 'list', key, items };
    }
    const entries = Object.entries(value).map(([name, item]) => [name, this.parsed(item, name)] as const);
    return entries.every(([, item]) => isConstant(item)) ? { type: 'constant', value } : { type: 'map', entries };
  }

  #text(text: string, key: string): Parsed {
    if (!text.includes(OPEN) && !text.includes(NO_VALUE_TEXT)) {
      this.constantBytes += Buffer.byteLength(text);
      return { type: 'constant', value: text };
    }
    return { type: 'text', key, template: this.#template(text, key) };
  }

  #template(text: string, key: string): Template | TokenError {
    try {
      const maxLexemes = MAX_LEXEMES - this.lexemes;
      const template = parseTemplate(key, text, { functions: TOKEN_FUNCTIONS, maxLexemes });
      this.lexemes += template.lexemes;
      return template;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return new TokenError(`${key}: could not parse the template: ${error.message}`, { cause: error });
    }
  }
}

const isConstant = ({ type }: Parsed): boolean => type === 'constant';

class Filling {
  readonly #data: object;
  readonly #budget: Budget;

  constructor(data: object, budget: Budget) {
    this.#data = data;
    this.#budget = budget;
  }

  filled(parsed: Parsed): unknown {
    switch (parsed.type) {
      case 'constant':
        return parsed.value;
      case 'text':
        return this.#text(parsed.template, parsed.key);
      case 'list':
        return parsed.items.map((item, index) => this.#item(item, parsed.key, index));
      case 'map':
        return Object.fromEntries(parsed.entries.map(([key, item]) => [key, this.filled(item)]));
    }
  }

  /** Counts bytes that belong to the filled value. @throws TokensTooLong */
  count(bytes: number): void {
    wrapped('value', () => {
      this.#budget.outputBytes(bytes);
    });
  }

  #item(item: Parsed, key: string, index: number): unknown {
    try {
      return this.filled(item);
    } catch (error) {
      if (!(error instanceof TokenError) || error instanceof TokensTooLong) throw error;
      throw new TokenError(`couldn't evaluate template for ${key}: ${error.message} (array ${index})`, {
        cause: error,
      });
    }
  }

  #text(template: Template | TokenError, key: string): string {
    if (template instanceof TokenError) throw template;
    const execute = () => executeTemplate(template, this.#data, TOKEN_FUNCTIONS, this.#budget);
    const { text, missing } = wrapped(key, execute);
    if (!text.includes(NO_VALUE_TEXT)) return text;
    const reason = missing ?? 'found an undefined value but could not identify the token';
    throw new TokenError(`${key}: unmatched token: ${reason}`);
  }
}

/** Runs `run` and converts the errors of templates to errors of tokens. */
function wrapped<T>(key: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    if (error.kind === 'too long') throw new TokensTooLong(`${key}: ${error.message}`, { cause: error });
    const reason = error.kind === 'limit' ? `template: ${key}: ${error.message}` : error.message;
    throw new TokenError(`could not execute the template: ${reason}`, { cause: error });
  }
}
