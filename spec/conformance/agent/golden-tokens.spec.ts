import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: tokens', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('05-tokens.json');
});
