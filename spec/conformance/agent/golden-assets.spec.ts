import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: assets', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('15-assets.json');
});
