import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: sockets', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('12-sockets.json');
});
