import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: hooks', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('06-hooks.json');
});
