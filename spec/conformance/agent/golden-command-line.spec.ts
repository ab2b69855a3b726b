import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: command-line', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('01-command-line.json');
});
