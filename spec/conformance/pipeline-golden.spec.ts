import { BackendProcess } from '../support/backend-process.ts';
import { perSuite } from '../support/fixture.ts';
import { itReplaysInParallel } from '../support/golden-parallel.ts';
import { playPipeline, readPipelineScenarios } from '../support/pipeline-runner.ts';

const FILE = 'pipeline/handlers.json';

/** These need filters that an operator defines. */
const LEFT_OUT = new Set(['set-filters-ignored', 'legacy-handler-filters']);

describe('recorded handlers', function () {
  this.timeout(90_000);
  const recorded = readPipelineScenarios(FILE).filter(({ name }) => !LEFT_OUT.has(name));
  const scenarios = new Map(recorded.map((scenario) => [scenario.name, scenario]));
  const backend = perSuite(() => BackendProcess.start({ environment: { MARK_ENV: 'from-backend' } }));
  const api = perSuite(() => backend.login());

  /** Each has its own namespace. */
  itReplaysInParallel([...scenarios.keys()], async (name) => {
    const scenario = scenarios.get(name);
    if (scenario !== undefined) await playPipeline(FILE, scenario, api);
  });
});
