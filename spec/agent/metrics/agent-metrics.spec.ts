import { expect } from 'chai';
import { AgentMetrics } from '../../../src/agent/metrics/agent-metrics.ts';

describe('the first scrape of an agent', () => {
  it('omits values that have not been measured yet', async () => {
    const metrics = new AgentMetrics();
    metrics.count('statsd_invalid_lines', 2);
    const { text } = await metrics.scrape();
    expect(text).to.include('mon_agent_statsd_invalid_lines 2').and.include('nodejs_heap_size_used_bytes ');
    expect(text).not.to.match(/ nan$/im);
    expect(text).not.to.include('9223372036');
  });
});
