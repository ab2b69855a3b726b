import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: allow-list', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('07-allow-list.json');
});
