import { itReplaysAgentScenarios } from '../../support/golden-agent/replay.ts';

describe('the recorded agent: entity-redaction', function () {
  this.timeout(120_000);
  itReplaysAgentScenarios('14-entity-redaction.json');
});
