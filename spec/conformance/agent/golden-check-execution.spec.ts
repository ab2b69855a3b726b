import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: check-execution', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('04-check-execution.json');
});
