import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: tls', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('16-tls.json');
});
