import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** A title, or a part of one, in a file of tests. */
type Proof = readonly [file: string, title: string];

const EVENTS = 'conformance/earlier/event-cases.spec.ts';
const AGGREGATES = 'conformance/earlier/aggregate-cases.spec.ts';
const HTTP = 'conformance/earlier/http-cases.spec.ts';
const AGENT = 'conformance/earlier/agent-results.spec.ts';
const GOLDEN = 'conformance/earlier/golden.spec.ts';

const titled = (file: string, numbers: readonly number[]): [number, readonly Proof[]][] =>
  numbers.map((number) => [number, [[file, `case ${number}: `]]]);

/** The conformance cases of `spec/05`, by their numbers. Numbers that are missing are recorded. */
const CASES = new Map<number, readonly Proof[]>([
  ...titled(EVENTS, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
  [12, [[EVENTS, 'cases 12 and 13: ']]],
  [13, [[EVENTS, 'cases 12 and 13: ']]],
  ...titled(EVENTS, [14]),
  [15, [[EVENTS, "[15, '/events/web-07/http']"]]],
  [16, [[EVENTS, "[16, '/events/nobody/disk']"]]],
  [17, [[EVENTS, 'cases 17 and 18: ']]],
  [18, [[EVENTS, 'cases 17 and 18: ']]],
  ...titled(EVENTS, [19, 20, 21]),
  ...titled(AGGREGATES, [27]),
  [28, [[AGGREGATES, 'cases 28 and 33: ']]],
  ...titled(AGGREGATES, [29, 30, 31, 32]),
  [33, [[AGGREGATES, 'cases 28 and 33: ']]],
  ...titled(AGGREGATES, [35, 36, 37, 38, 39]),
  ...titled(HTTP, [40, 41, 42, 43, 49, 51]),
  ...titled(AGENT, [59, 60]),
  ...titled(HTTP, [61, 62]),
]);
/** Numbers that only the recordings have. */
const RECORDED = [22, 23, 24, 25, 26, 34, 44, 45, 46, 47, 48, 50, 52, 53, 54, 55, 56, 57, 58];
const RECORDINGS = ['03-aggregates', '04-results', '05-clients', '06-silenced', '07-stashes', '08-checks-request'];
const MORE_RECORDINGS = ['09-http-rules', '10-pages-filters', '11-auth', '12-health-info'];
const LAST_CASE = 62;

describe('the conformance cases of spec/05', () => {
  it('have all numbers', () => {
    const numbers = Array.from({ length: LAST_CASE }, (_, index) => index + 1);
    expect([...CASES.keys(), ...RECORDED].sort((one, other) => one - other)).to.deep.equal(numbers);
  });

  for (const [number, proofs] of CASES) {
    it(`have tests: case ${number}`, () => {
      const missing = proofs.filter(([file, title]) => !readFileSync(ROOT + file, 'utf8').includes(title));
      expect(missing).to.deep.equal([]);
    });
  }

  it('that are recorded are replayed', () => {
    const replayed = readFileSync(ROOT + GOLDEN, 'utf8');
    const missing = [...RECORDINGS, ...MORE_RECORDINGS].filter((name) => !replayed.includes(`'${name}.json'`));
    expect(missing).to.deep.equal([]);
  });
});
