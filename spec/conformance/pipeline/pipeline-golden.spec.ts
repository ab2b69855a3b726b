import { BackendProcess } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { itReplaysInParallel } from '../../support/golden-parallel.ts';
import { playPipeline, readPipelineScenarios } from '../../support/pipeline-runner.ts';

/** The recordings with the longest waits come first. */
const FILES = ['agent', 'mutators', 'handlers', 'filters', 'pipelines'].map((name) => `pipeline/${name}.json`);

/** The minute of the day, UTC, that the windows of a scenario leave out. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'when-allow-inside': '23:59',
  'when-deny-inside-expr-false': '23:59',
  'when-weekdays-inside': '23:59',
  'when-overnight-covers-all': '12:00',
};
const MINUTE_MS = 60_000;

/** Waits until at least five seconds before or after the minute that the scenario leaves out. */
async function untilInWindows(scenario: string): Promise<void> {
  const minute = LEFT_OUT[scenario];
  if (minute === undefined) return;
  const isNear = (): boolean =>
    [0, 5_000].some((aheadMs) => new Date(Date.now() + aheadMs).toISOString().slice(11, 16) === minute);
  await eventually(() => !isNear(), Boolean, { what: `the end of ${minute}`, withinMs: 2 * MINUTE_MS, everyMs: 500 });
}

describe('the recorded event pipeline', function () {
  this.timeout(3 * MINUTE_MS);
  const all = FILES.flatMap((file) => readPipelineScenarios(file).map((scenario) => ({ file, scenario })));
  const scenarios = new Map(all.map((each) => [`${each.file} ${each.scenario.name}`, each]));
  const backend = perSuite(() =>
    BackendProcess.start({
      environment: { MARK_ENV: 'from-backend' },
      // A loaded machine does not change the order of handlers.
      args: ['--handler-patience', '60s'],
    }),
  );
  const api = perSuite(() => backend.login());

  /** Each has its own namespace. */
  itReplaysInParallel([...scenarios.keys()], async (name) => {
    const { file, scenario } = scenarios.get(name) ?? {};
    if (file === undefined || scenario === undefined) return;
    await untilInWindows(scenario.name);
    await playPipeline(file, scenario, { api, agentPort: backend.agentPort });
  });
});
