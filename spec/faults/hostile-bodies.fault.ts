import { assertNothingInherited, itSurvivesBodies } from '../conformance/attacks/hostile-bodies.ts';

describe('A6 member names that reach a prototype in careless code', () => {
  assertNothingInherited();
  itSurvivesBodies(100_000);
});
