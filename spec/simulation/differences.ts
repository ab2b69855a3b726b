/** What differs from what was predicted; the first one ends a run. */
export class Differences {
  readonly found: string[] = [];

  add(fault: string): void {
    this.found.push(fault);
  }

  /** Adds a fault unless both are the same text. */
  compare(what: string, expected: unknown, actual: unknown): void {
    const [wanted, got] = [JSON.stringify(expected), JSON.stringify(actual)];
    if (wanted !== got) this.add(`${what}\n    expected ${wanted}\n    but got  ${got}`);
  }
}
