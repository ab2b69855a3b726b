import { InvalidResource } from '../resources/errors.ts';

/** Returns the value of an object's field; undefined when the object has no such field. */
export type Lookup = (field: string) => string | undefined;

/** Reports whether an object is selected. */
export type Selector = (valueOf: Lookup) => boolean;

/** Conditions of one selector. Each of them is evaluated for each object of a list. */
const MAX_CONDITIONS = 100;
/** Lists of an object whose items are kept while its conditions are evaluated. */
const MAX_KEPT_LISTS = 16;

type Token =
  | { type: 'sign'; text: '==' | '!=' | '&&' | '[' | ']' | ',' }
  | { type: 'operator'; text: 'in' | 'notin' | 'matches' }
  | { type: 'boolean' | 'string' | 'identifier'; text: string };

const TOKEN = /\s*(?:(==|!=|&&|[[\],])|["']([^"']*)["']|([^\s[\]!&,"']+))/y;
/** Names joined by dots. Each begins with a letter or underscore; a slash is allowed where a digit is. */
const IDENTIFIER = /^[\p{L}_][\p{L}\d_/]*(?:\.[\p{L}_][\p{L}\d_/]*)*$/u;

/**
 * Parses `field == value`, `!=`, `matches`, `field in [value, ...]`, `value in field` and `notin`, joined by `&&`. An empty selector
 * selects everything. Source: spec/02 2.10. @throws InvalidResource
 */
export function parseSelector(source: string): Selector {
  const conditions = new Parser(tokensOf(source)).conditions();
  return (valueOf) => {
    const lookUp = oncePerField(valueOf);
    return conditions.every((holds) => holds(lookUp));
  };
}

/** The value of a field can be a list of a thousand items that is joined to a text. */
function oncePerField(valueOf: Lookup): Lookup {
  const values = new Map<string, string | undefined>();
  return (field) => {
    if (!values.has(field)) values.set(field, valueOf(field));
    return values.get(field);
  };
}

/** @throws InvalidResource */
function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  const text = source.trimEnd();
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null)
      throw new InvalidResource(`a selector cannot have ${text.slice(at).trimStart().charAt(0)} here`);
    const [, sign, string, plain] = match;
    if (sign !== undefined) tokens.push({ type: 'sign', text: sign as '&&' });
    else tokens.push(string === undefined ? plainToken(plain ?? '') : { type: 'string', text: string });
  }
  return tokens;
}

/** @throws InvalidResource */
function plainToken(text: string): Token {
  const lower = text.toLowerCase();
  if (lower === 'in' || lower === 'notin' || lower === 'matches') return { type: 'operator', text: lower };
  if (lower === 'true' || lower === 'false') return { type: 'boolean', text: lower };
  if (!IDENTIFIER.test(text)) throw new InvalidResource(`${text} must be in quotes`);
  return { type: 'identifier', text };
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #lists = new SplitLists();
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  conditions(): Selector[] {
    const conditions: Selector[] = [];
    while (this.#at < this.#tokens.length) {
      if (conditions.length === MAX_CONDITIONS) {
        throw new InvalidResource(`a selector must have at most ${MAX_CONDITIONS} conditions`);
      }
      if (conditions.length > 0 && this.#next?.text === '&&' && this.#next.type === 'sign') this.#at += 1;
      conditions.push(this.#condition());
    }
    return conditions;
  }

  get #next(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #condition(): Selector {
    const left = this.#take('identifier', 'string');
    const operator = this.#take('sign', 'operator');
    switch (operator) {
      case '==':
        return equals(left, this.#value());
      case '!=':
        return not(equals(left, this.#value()));
      case 'matches':
        return contains(left, this.#value());
      case 'in':
        return this.#membership(left);
      case 'notin':
        return not(this.#membership(left));
      default:
        throw new InvalidResource(`${operator} is not an operator`);
    }
  }

  #value(): string {
    return this.#take('identifier', 'string', 'boolean');
  }

  #membership(left: string): Selector {
    if (this.#next?.type === 'identifier') return isAmong(left, this.#take('identifier'), this.#lists);
    const values = new Set<string>();
    this.#takeSign('[');
    while (this.#next?.type !== 'sign' || this.#next.text === ',') {
      if (this.#next?.type === 'sign') this.#at += 1;
      else values.add(this.#take('identifier', 'string'));
    }
    this.#takeSign(']');
    return isOneOf(left, values);
  }

  #take(...types: Token['type'][]): string {
    const token = this.#next;
    if (token === undefined) throw new InvalidResource(`a selector must not end before a ${types.join(' or ')}`);
    if (!types.includes(token.type)) throw new InvalidResource(`${token.text} must be a ${types.join(' or ')}`);
    this.#at += 1;
    return token.text;
  }

  #takeSign(text: '[' | ']'): void {
    if (this.#take('sign') !== text) throw new InvalidResource(`a list must be between [ and ]`);
  }
}

const not =
  (selector: Selector): Selector =>
  (valueOf) =>
    !selector(valueOf);

const equals =
  (field: string, value: string): Selector =>
  (valueOf) =>
    valueOf(field) === value;

const contains =
  (field: string, part: string): Selector =>
  (valueOf) =>
    valueOf(field)?.includes(part) ?? false;

const isOneOf =
  (field: string, values: ReadonlySet<string>): Selector =>
  (valueOf) => {
    const value = valueOf(field);
    return value !== undefined && values.has(value);
  };

/** Selects objects whose list `right` contains `left`. When there is no field `right`, selects those whose field `left` equals it. */
const isAmong =
  (left: string, right: string, lists: SplitLists): Selector =>
  (valueOf) => {
    const list = valueOf(right);
    return list === undefined ? valueOf(left) === right : lists.itemsOf(list).has(left);
  };

/** Splits each list once for all conditions of a selector. */
class SplitLists {
  readonly #items = new Map<string, ReadonlySet<string>>();

  itemsOf(list: string): ReadonlySet<string> {
    const known = this.#items.get(list);
    if (known !== undefined) return known;
    if (this.#items.size === MAX_KEPT_LISTS) this.#items.clear();
    const items = new Set(itemsOf(list));
    this.#items.set(list, items);
    return items;
  }
}

/** Splits a list with or without brackets. */
function itemsOf(list: string): string[] {
  let [from, to] = [0, list.length];
  while (isBracket(list[from])) from += 1;
  while (to > from && isBracket(list[to - 1])) to -= 1;
  return list
    .slice(from, to)
    .split(',')
    .map((item) => item.trim());
}

const isBracket = (character: string | undefined): boolean => character === '[' || character === ']';
