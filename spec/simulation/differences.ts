/** Collects the differences from the prediction. A run ends at the first one. */
export class Differences {
  readonly found: string[] = [];

  add(difference: string): void {
    this.found.push(difference);
  }

  /** Adds a difference unless both values are the same JSON text. */
  compare(what: string, expected: unknown, actual: unknown): void {
    const [wanted, got] = [JSON.stringify(expected), JSON.stringify(actual)];
    if (wanted !== got) this.add(`${what}\n    expected ${wanted}\n    actual   ${got}`);
  }
}
