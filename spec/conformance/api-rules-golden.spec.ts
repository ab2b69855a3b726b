import type { Selection } from '../support/golden-exchanges.ts';
import { itAnswersAsRecorded } from '../support/recorded-answers.ts';

const allBut = (...steps: number[]): Selection => {
  const skipped = new Set(steps);
  return (step) => !skipped.has(step);
};

/** Before it come the lists of checks, one of which asks for round robin: `rules/selectors.spec.ts` has those. */
const FIRST_WITHOUT_CHECKS = 75;

/** Node refuses methods that HTTP has not got before anybody is asked. */
const NO_METHODS = new Set([7, 44]);
const NOT_BUILT = /\/tessen|\/cluster\/|\/graphql|\/checks\/x\/hooks\//;
const THE_WORDS_OF_A_PARSER = 49;

/**
 * The rules that all resources have in common: paths, bodies, patches, conditions, pages, selectors, who wins. What is left out needs
 * checks with cron, round robin, proxy requests and subdues.
 */
const RECORDINGS: [string, Selection][] = [
  ['rest/01-routing', (step, { path }) => !NO_METHODS.has(step) && !NOT_BUILT.test(path)],
  ['rest/03-checks-basic', () => true],
  ['rest/10-namespaces', (_, { path }) => !path.includes('sensu-system')],
  ['rest/11-patch', allBut(28, 51, 53, 55)],
  ['rest/12-etags', (_, { path }) => !path.endsWith('/tessen')],
  ['rest/17-events', allBut(THE_WORDS_OF_A_PARSER)],
  ['rest/18-events-validation', () => true],
  ['rest/19-paging', () => true],
  ['rest/20-bodies', () => true],
  ['rest/21-concurrency', () => true],
  ['rest/22-selectors', (step) => step >= FIRST_WITHOUT_CHECKS],
];

describe('what the reference answered by the common rules of its API', () => {
  itAnswersAsRecorded(RECORDINGS);
});
