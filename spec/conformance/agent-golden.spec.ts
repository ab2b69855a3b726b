import { AgentProcess } from '../agent/agent-process.ts';
import { FakeBackend } from '../agent/fake-backend.ts';
import { jsonCodec, protobufCodec } from '../../src/wire/codec.ts';
import { itReplaysInParallel } from '../support/golden-parallel.ts';
import { playTranscript } from '../support/golden-transcript.ts';

/** These checks need metrics, hooks, secrets or assets on the agent, or post events through its API and sockets. */
const LEFT_OUT = new Set('metric hooked env asset posted sock metrics'.split(' '));

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
};

describe('an agent that receives the messages of a recorded backend', function () {
  this.timeout(60_000);

  itReplaysInParallel(Object.keys(ACCEPTS), async (name) => {
    const accepts = ACCEPTS[name] ?? [];
    const options = { acknowledges: false, acksEvents: false, entityConfig: undefined, accepts };
    const backend = await FakeBackend.start(options);
    const settings = { ...SETTINGS, name: `ra-${name}`, 'backend-url': backend.url };
    const flags = Object.entries(settings).map(([flag, value]) => `--${flag}=${value}`);
    const agent = new AgentProcess(['start', ...flags]);
    try {
      await playTranscript(`wire/real-agent/${name}.json`, { backend, agent }, LEFT_OUT);
    } finally {
      await agent.kill();
      await backend.stop();
    }
  });
});
