import { LRUCache } from 'lru-cache';
import { TokenTemplate } from '../../formats/tokens.ts';

/** Checks whose tokens are kept parsed. The least recently used ones are evicted. */
const MAX_CACHED_TEMPLATES = 1_000;
/** The lexemes of all of them. */
const MAX_CACHED_LEXEMES = 200_000;

/** The parsed tokens of checks. A check is parsed once, as long as it does not change, and filled for many entities. */
export class CheckTemplates {
  readonly #templates = new LRUCache<object, TokenTemplate<object>>({
    max: MAX_CACHED_TEMPLATES,
    maxSize: MAX_CACHED_LEXEMES,
    sizeCalculation: ({ size }) => size + 1,
  });

  /** Returns the template of a value, which must not change. `key` is the key that error messages use for texts outside a map. */
  of<T extends object>(value: T, key = ''): TokenTemplate<T> {
    const known = this.#templates.get(value);
    if (known !== undefined) return known as TokenTemplate<T>;
    const template = new TokenTemplate(value, key);
    this.#templates.set(value, template);
    return template;
  }
}
