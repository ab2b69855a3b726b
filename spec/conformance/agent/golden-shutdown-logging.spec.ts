import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: shutdown-logging', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('17-shutdown-logging.json');
});
