import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: metrics', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('08-metrics.json');
});
