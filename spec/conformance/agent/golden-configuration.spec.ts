import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: configuration', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('02-configuration.json');
});
