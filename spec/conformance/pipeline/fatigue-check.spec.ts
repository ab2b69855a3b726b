import { expect } from 'chai';
import { tarGzArchive } from '../../assets/archive-builder.ts';
import { AssetServer } from '../../assets/asset-server.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { FATIGUE_LIBRARY } from '../../support/fatigue-library.ts';
import { perSuite } from '../../support/fixture.ts';
import { PipelineUser } from '../../support/pipeline-user.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ASSET = 'acme/fatigue-check';
const START_S = 1_700_000_000;
/** The number of results after which the backend decides whether a check flaps. */
const FLAPPING_RESULTS = 21;

type Annotations = Readonly<Record<string, string>>;

interface Sequence {
  what: string;
  /** The statuses of the results, and which of them pass the filter. */
  results: readonly [status: number, passes: boolean][];
  /** Without the prefix `fatigue_check/`. */
  ofCheck?: Annotations;
  ofEntity?: Annotations;
  check?: Record<string, unknown>;
  name?: string;
}

const [YES, NO] = [true, false] as const;
const failing = (...passes: boolean[]): [number, boolean][] => passes.map((each) => [2, each]);
const alternating = Array.from({ length: FLAPPING_RESULTS }, (_, n): [number, boolean] => [n % 2 === 0 ? 2 : 0, YES]);

/** The interval of the check is 60 s. */
const SEQUENCES: readonly Sequence[] = [
  {
    what: 'once, and after half an hour again, by default',
    results: failing(YES, ...Array<boolean>(29).fill(NO), YES),
  },
  {
    what: 'from the third occurrence on, and once in each interval after that',
    ofCheck: { occurrences: '3', interval: '180' },
    results: failing(NO, NO, YES, NO, NO, YES, NO, NO, YES),
  },
  {
    what: 'an interval that is no multiple of that of the check, rounded up',
    ofCheck: { interval: '100' },
    results: failing(YES, NO, YES, NO, YES),
  },
  {
    what: 'by the annotations of the entity before those of the check',
    ofCheck: { occurrences: '3' },
    ofEntity: { occurrences: '2', interval: '60' },
    results: failing(NO, YES, YES),
  },
  {
    what: 'a resolution after an alert that passed, and none after one that did not',
    ofCheck: { occurrences: '2' },
    results: [...failing(NO, YES), [0, YES], [2, NO], [0, NO]],
  },
  {
    what: 'no resolution if none is wanted',
    ofCheck: { allow_resolution: 'false' },
    results: [...failing(YES), [0, NO]],
  },
  {
    what: 'nothing while the check flaps',
    check: { low_flap_threshold: 5, high_flap_threshold: 20 },
    results: [...alternating.slice(0, -1), [2, NO], [0, NO]],
  },
  {
    what: 'the alerts of a flapping check if they are wanted',
    ofEntity: { suppress_flapping: 'false' },
    check: { low_flap_threshold: 5, high_flap_threshold: 20 },
    results: [...alternating, [0, YES]],
  },
  {
    what: 'keepalives by settings of their own',
    name: 'keepalive',
    ofEntity: { occurrences: '1', keepalive_occurrences: '2', keepalive_interval: '120' },
    results: failing(NO, YES, NO, YES),
  },
  {
    what: 'the alerts of a check with a cron expression by the time between its results',
    ofCheck: { interval: '180' },
    check: { interval: 0, cron: '* * * * *' },
    results: failing(YES, NO, NO, YES),
  },
];

const prefixed = (annotations: Annotations = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`fatigue_check/${name}`, value]));

describe('a filter with a published library against alert fatigue', function () {
  this.timeout(60_000);
  const server = perSuite(() => AssetServer.start());
  const backend = perSuite(() => BackendProcess.start());
  const api = perSuite(() => backend.login());
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const user = perSuite(() => new PipelineUser(api, directory.path));

  before(async () => {
    const archive = tarGzArchive([
      { path: 'lib/', type: '5', mode: 0o755 },
      { path: 'lib/fatigue_check.js', content: FATIGUE_LIBRARY },
    ]);
    const { url, sha512 } = server.asset(ASSET, archive);
    await user.put('assets', ASSET, { builds: [{ url, sha512 }] });
    const expressions = ['fatigue_check(event)'];
    await user.put('filters', 'fatigue', { action: 'allow', expressions, runtime_assets: [ASSET] });
    await user.put('handlers', 'alert', { type: 'pipe', command: 'cat > /dev/null', filters: ['fatigue'] });
  });

  for (const [index, { what, results, ofCheck, ofEntity, check, name = `check-${index}` }] of SEQUENCES.entries()) {
    it(`passes ${what}`, async () => {
      const entity = `web-${index}`;
      for (const [count, [status]] of results.entries()) {
        const executed = START_S + count * 60;
        const metadata = { name, namespace: 'default', annotations: prefixed(ofCheck) };
        const event = {
          timestamp: executed,
          entity: { entity_class: 'proxy', metadata: { ...metadata, name: entity, annotations: prefixed(ofEntity) } },
          check: { metadata, interval: 60, status, executed, output: '', handlers: ['alert'], ...check },
        };
        const { status: answered, text } = await api.put(`/ns/default/events/${entity}/${name}`, event);
        expect(answered, text).to.equal(200);
        await user.outcomes(name, count + 1, entity);
      }
      const outcomes = await user.outcomes(name, results.length, entity);
      const expected = results.map(([, passes]) => (passes ? 'handled' : 'denied'));
      expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(expected);
    });
  }

  it('is downloaded once', () => {
    expect(server.paths).to.deep.equal(['/acme-fatigue-check.tgz']);
  });
});
