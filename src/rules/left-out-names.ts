/** The names that one record lists. */
const MAX_NAMES = 10_000;
/** The characters of these names. */
const MAX_CHARACTERS = 262_144;

/** The distinct names of handlers that are left out because of a limit, in order and up to a bound. */
export class LeftOutNames {
  readonly #names = new Set<string>();
  #characters = 0;
  #isFull = false;

  /** Whether there were more names than are listed. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The first name, and the others. */
  get listed(): { first: string; others: readonly string[] } {
    const [first = '', ...others] = this.#names;
    return { first, others };
  }

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  add(name: string): void {
    if ((this.#isFull && !this.isEmpty) || this.#names.has(name)) return;
    if (this.#names.size === MAX_NAMES || this.#characters + name.length > MAX_CHARACTERS) {
      this.#isFull = true;
      return;
    }
    this.#names.add(name);
    this.#characters += name.length;
  }

  /** Notes that there may be more names, which are not read. */
  stop(): void {
    this.#isFull = true;
  }

  /** Adds to the reason that there are more names, if there are. */
  reason(why: string): string {
    return this.#isFull ? `${why}; only the first ${this.#names.size} are named` : why;
  }
}
