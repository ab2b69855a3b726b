/** A page ends at this length, in characters, whatever its limit. */
const MAX_PAGE_LENGTH = 4 * 1024 * 1024;

/** The items of a page that are held in memory until all have been read. */
export class CollectedPage<T extends object> {
  readonly items: T[] = [];
  #length = 0;

  add(item: T): void {
    this.items.push(item);
    this.#length += JSON.stringify(item).length;
  }

  get isFull(): boolean {
    return this.#length >= MAX_PAGE_LENGTH;
  }
}
