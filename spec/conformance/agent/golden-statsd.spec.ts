import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: statsd', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('13-statsd.json');
});
