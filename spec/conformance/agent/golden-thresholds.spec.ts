import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: thresholds', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('09-thresholds.json');
});
