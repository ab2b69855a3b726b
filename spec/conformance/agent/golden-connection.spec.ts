import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: connection', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('03-connection.json');
});
