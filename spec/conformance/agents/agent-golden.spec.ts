import { AgentProcess } from '../../agent/agent-process.ts';
import { FakeBackend } from '../../agent/fake-backend.ts';
import { InProcessAgent } from '../../agent/in-process-agent.ts';
import { jsonCodec, protobufCodec } from '../../../src/wire/codec.ts';
import { freePort } from '../../support/free-port.ts';
import { itReplaysInParallel } from '../../support/golden-parallel.ts';
import { playTranscript } from '../../support/golden-transcript.ts';

/** The `Accept` lines of the backend, by the encoding that they select. */
const ACCEPTS: Record<string, string[]> = {
  json: [jsonCodec.mediaType],
  protobuf: [protobufCodec.mediaType, jsonCodec.mediaType],
};

/** The configuration of the recorded agent. */
const SETTINGS = {
  subscriptions: 's1,s2',
  labels: 'site=fra,password=hunter2',
  annotations: 'runbook=https://wiki.example/x',
  deregister: 'true',
  'deregistration-handler': 'cmdb',
  'keepalive-interval': '3',
  'keepalive-warning-timeout': '10',
  'keepalive-critical-timeout': '20',
  'keepalive-handlers': 'slack',
  'keepalive-check-labels': 'el=1',
  'keepalive-pipelines': 'core/v2.Pipeline.incidents',
  'retry-min': '100ms',
  'statsd-flush-interval': '2',
  'statsd-event-handlers': 'influx',
};

describe('an agent that receives the messages of a recorded backend', function () {
  this.timeout(120_000);

  itReplaysInParallel(Object.keys(ACCEPTS), async (name) => {
    const accepts = ACCEPTS[name] ?? [];
    const options = { acknowledges: false, acksEvents: false, entityConfig: undefined, accepts };
    const backend = await FakeBackend.start(options);
    const settings = { ...SETTINGS, name: `ra-${name}`, 'backend-url': backend.url };
    const ports = { api: await freePort(), sockets: await freePort(), statsd: await freePort() };
    const local = { 'api-port': ports.api, 'socket-port': ports.sockets, 'statsd-metrics-port': ports.statsd };
    const flags = Object.entries({ ...settings, ...local }).map(([flag, value]) => `--${flag}=${value}`);
    const agent = name === 'json' ? new AgentProcess(['start', ...flags]) : new InProcessAgent(['start', ...flags]);
    try {
      await playTranscript(`wire/real-agent/${name}.json`, { backend, agent, ports });
    } finally {
      await agent.kill();
      await backend.stop();
    }
  });
});
