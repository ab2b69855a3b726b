import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: queue', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('11-queue.json');
});
