interface EntriesLimit {
  maxSize: number;
  sizeCalculation: () => number;
}

/**
 * The options of an `LRUCache` that has at most this number of entries. Its memory grows with the entries, while the option `max` takes
 * the memory of all of them at once, which is most of what the start of a program with many caches costs.
 */
export const atMost = (entries: number): EntriesLimit => ({ maxSize: entries, sizeCalculation: () => 1 });
