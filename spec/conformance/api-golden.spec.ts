import type { Selection } from '../support/golden-exchanges.ts';
import { itAnswersAsRecorded } from '../support/recorded-answers.ts';

/** What leads to routes that are not built: hooks of checks, the cluster, telemetry. */
const isBuilt = (path: string): boolean =>
  !/\/hooks\/[^/]+\/hook\/|\/checks\/[^/]+\/hooks\/|\/cluster\/|\/tessen/.test(path);
/** Of these recordings the steps that lead to what is built, but those whose answer names what is called otherwise here. */
const built =
  (...renamed: number[]): Selection =>
  (step, { path }) =>
    isBuilt(path) && !renamed.includes(step);

/** What is left out needs schedules by cron, hooks of checks, the cluster, or names the namespace of the backend itself. */
const RECORDINGS: [string, Selection][] = [
  ['rest/06-hooks-handlers', () => true],
  ['rest/07-filters-mutators', () => true],
  ['rest/08-assets', () => true],
  ['rest/09-pipelines', () => true],
  ['rest/13-patch-others', () => true],
  ['rest/15-entities', () => true],
  ['rest/16-silenced', () => true],
  ['auth/01-login', () => true],
  ['auth/02-refresh-logout', () => true],
  ['auth/03-token-tampering', () => true],
  ['auth/04-schemes-and-order', () => true],
  ['auth/05-users', () => true],
  ['auth/06-groups-disable', () => true],
  ['auth/07-passwords', () => true],
  ['auth/08-apikeys', () => true],
  ['auth/09-seeded', built(19)],
  ['auth/10-rbac-rules', built()],
  ['auth/11-rbac-names', () => true],
  ['auth/12-rbac-namespaces', () => true],
  ['auth/13-rbac-self-special', built()],
  ['auth/14-rbac-dangling', () => true],
  ['auth/15-rbac-matrix', built()],
];

describe('what the reference answered', () => {
  itAnswersAsRecorded(RECORDINGS);
});
