interface Link<T> {
  value: T;
  next: Link<T> | undefined;
}

/** A first-in, first-out queue with constant-time operations. */
export class Fifo<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** The value that `shift` would return. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  push(value: T): void {
    const link = { value, next: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
  }

  /** Adds a value in front of all others. */
  unshift(value: T): void {
    this.#first = { value, next: this.#first };
    this.#last ??= this.#first;
  }

  shift(): T | undefined {
    const first = this.#first;
    this.#first = first?.next;
    if (this.#first === undefined) this.#last = undefined;
    return first?.value;
  }

  /** Yields and removes all values. */
  *drain(): Iterable<T> {
    while (this.#first !== undefined) yield this.shift() as T;
  }
}
