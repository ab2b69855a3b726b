import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** A title, or a part of one, in a file of tests; or the name of a scenario in a recording that is replayed. */
export type Proof = readonly [file: string, title: string];

/** Declares a test for each conformance case of a fact sheet: it is proved by tests, and those exist. */
export function itHasTestsForCases(
  cases: Readonly<Record<number, readonly Proof[]>>,
  numbers: readonly number[],
): void {
  it('have all numbers', () => {
    expect(Object.keys(cases)).to.deep.equal(numbers.map(String));
  });

  for (const [number, proofs] of Object.entries(cases)) {
    it(`have tests: case ${number}`, () => {
      const missing = proofs.filter(([file, title]) => !readFileSync(ROOT + file, 'utf8').includes(title));
      expect(missing).to.deep.equal([]);
      expect(proofs).not.to.deep.equal([]);
    });
  }
}

/** The numbers from `first` to `last`. */
export const numbersFrom = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
