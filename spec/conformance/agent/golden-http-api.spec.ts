import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: http-api', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('10-http-api.json');
});
