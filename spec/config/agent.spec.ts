import { expect } from 'chai';
import { AgentProcess } from '../agent/agent-process.ts';
import { type AgentConfig, parseAgentConfig } from '../../src/config/agent.ts';

import { temporaryDirectory } from '../support/temporary-directory.ts';
import { mistakesOf } from './mistakes.ts';
import { sources } from './sources.ts';
import { AGENT_HERE } from './agent-here.ts';

function agentOf(given: Parameters<typeof sources>[0]): AgentConfig {
  const parsed = parseAgentConfig(sources(given), AGENT_HERE);
  if ('help' in parsed) throw new Error('help instead of a configuration');
  return parsed.config;
}

const OPS = { api_version: 'core/v2', type: 'Pipeline', name: 'ops' };

describe('the configuration of the agent', () => {
  it('has the documented defaults and the name of the host', () => {
    expect(agentOf({})).to.deep.equal({
      name: 'my-host',
      namespace: 'default',
      labels: {},
      annotations: {},
      redact: [],
      deregister: false,
      deregistrationHandler: '',
      isAgentManaged: false,
      link: {
        handshakeTimeoutMs: 15_000,
        retry: { minMs: 1_000, maxMs: 120_000, multiplier: 2 },
        maxSessionMs: 0,
      },
      heartbeat: { intervalMs: 30_000, timeoutMs: 45_000 },
      allowList: '',
      maxParallelChecks: 0,
      disablesAssets: false,
      assets: { tokensPerS: 1.39, burst: 100, allowed: [] },
      sockets: { isEnabled: true, host: '127.0.0.1', port: 3030 },
      statsd: { isEnabled: true, host: '127.0.0.1', port: 8125, flushIntervalS: 10, handlers: [] },
      maxQueuedEvents: 100_000,
      api: { isEnabled: true, host: '127.0.0.1', port: 3031 },
      relay: { ratePerS: 10, burst: 10 },
      system: { detectsCloud: false, showsNetworks: true },
      backendUrls: ['ws://127.0.0.1:8081/'],
      subscriptions: [],
      user: 'agent',
      password: 'P@ssw0rd!',
      tls: { ca: undefined, pair: undefined, skipsVerification: false },
      keepalive: {
        intervalS: 20,
        warningTimeoutS: 120,
        criticalTimeoutS: 0,
        handlers: ['keepalive'],
        labels: {},
        annotations: {},
        pipelines: [],
      },
      cacheDir: '/var/cache/mon/mon-agent',
      logFile: undefined,
      logLevel: 'warn',
    });
  });

  for (const { flag, text, where, is } of [
    { flag: 'name', text: 'web-1', where: 'name', is: 'web-1' },
    { flag: 'namespace', text: 'ops', where: 'namespace', is: 'ops' },
    { flag: 'labels', text: '{"a":"b"}', where: 'labels', is: { a: 'b' } },
    { flag: 'annotations', text: '{"a":"b c"}', where: 'annotations', is: { a: 'b c' } },
    { flag: 'redact', text: 'pin,token', where: 'redact', is: ['pin', 'token'] },
    { flag: 'subscriptions', text: 'web,db', where: 'subscriptions', is: ['web', 'db'] },
    { flag: 'deregister', text: 'true', where: 'deregister', is: true },
    { flag: 'deregistration-handler', text: 'cmdb', where: 'deregistrationHandler', is: 'cmdb' },
    { flag: 'detect-cloud-provider', text: 'true', where: 'system.detectsCloud', is: true },
    { flag: 'strip-networks', text: 'true', where: 'system.showsNetworks', is: false },
    { flag: 'agent-managed-entity', text: 'true', where: 'isAgentManaged', is: true },
    { flag: 'backend-url', text: 'ws://a,wss://b:9', where: 'backendUrls', is: ['ws://a:8081/', 'wss://b:9/'] },
    { flag: 'user', text: 'joe', where: 'user', is: 'joe' },
    { flag: 'password', text: 'secret', where: 'password', is: 'secret' },
    { flag: 'trusted-ca-file', text: '/a', where: 'tls.ca', is: { flag: 'trusted-ca-file', path: '/a' } },
    { flag: 'insecure-skip-tls-verify', text: 'true', where: 'tls.skipsVerification', is: true },
    { flag: 'backend-handshake-timeout', text: '3', where: 'link.handshakeTimeoutMs', is: 3_000 },
    { flag: 'backend-handshake-timeout', text: '-1', where: 'link.handshakeTimeoutMs', is: 15_000 },
    { flag: 'backend-heartbeat-interval', text: '3', where: 'heartbeat.intervalMs', is: 3_000 },
    { flag: 'backend-heartbeat-interval', text: '0', where: 'heartbeat.intervalMs', is: 30_000 },
    { flag: 'backend-heartbeat-timeout', text: '60', where: 'heartbeat.timeoutMs', is: 60_000 },
    { flag: 'backend-heartbeat-timeout', text: '0', where: 'heartbeat.timeoutMs', is: 45_000 },
    { flag: 'retry-min', text: '1.5s', where: 'link.retry.minMs', is: 1_500 },
    { flag: 'retry-max', text: '1m', where: 'link.retry.maxMs', is: 60_000 },
    { flag: 'retry-multiplier', text: '1.5', where: 'link.retry.multiplier', is: 1.5 },
    { flag: 'retry-multiplier', text: '0', where: 'link.retry.multiplier', is: 2 },
    { flag: 'max-session-length', text: '2h', where: 'link.maxSessionMs', is: 7_200_000 },
    { flag: 'keepalive-interval', text: '30', where: 'keepalive.intervalS', is: 30 },
    { flag: 'keepalive-warning-timeout', text: '60', where: 'keepalive.warningTimeoutS', is: 60 },
    { flag: 'keepalive-critical-timeout', text: '300', where: 'keepalive.criticalTimeoutS', is: 300 },
    { flag: 'keepalive-handlers', text: 'a,b', where: 'keepalive.handlers', is: ['a', 'b'] },
    { flag: 'keepalive-check-labels', text: '{"a":"b"}', where: 'keepalive.labels', is: { a: 'b' } },
    { flag: 'keepalive-check-annotations', text: '{"a":"b"}', where: 'keepalive.annotations', is: { a: 'b' } },
    { flag: 'keepalive-pipelines', text: 'core/v2.Pipeline.ops', where: 'keepalive.pipelines', is: [OPS] },
    { flag: 'events-queue-max', text: '7', where: 'maxQueuedEvents', is: 7 },
    { flag: 'cache-dir', text: '/c', where: 'cacheDir', is: '/c' },
    { flag: 'log-level', text: 'debug', where: 'logLevel', is: 'debug' },
  ]) {
    it(`reads ${flag} ${text} from the flag, the environment and the file`, () => {
      const variable = `MON_${flag.toUpperCase().replaceAll('-', '_')}`;
      const files = { '/etc/mon/agent.yml': `${flag}: ${text}` };
      for (const given of [{ argv: [`--${flag}=${text}`] }, { env: { [variable]: text } }, { files }]) {
        expect(agentOf(given)).to.have.deep.nested.property(where, is);
      }
    });
  }

  it('ignores discover-processes', () => {
    expect(agentOf({ argv: ['--discover-processes'] })).to.deep.equal(agentOf({}));
  });

  it('accepts the flag names of earlier versions', () => {
    expect(agentOf({ argv: ['--keepalive-timeout', '60'] }).keepalive.warningTimeoutS).to.equal(60);
    expect(agentOf({ env: { MON_KEEPALIVE_TIMEOUT: '60' } }).keepalive.warningTimeoutS).to.equal(60);
    expect(agentOf({ files: { '/etc/mon/agent.yml': 'id: web-1' } }).name).to.equal('web-1');
  });

  it('converts label keys of the file to lower case and keeps those of flags and variables', () => {
    expect(agentOf({ files: { '/etc/mon/agent.yml': 'labels: {proxyType: x}' } }).labels).to.deep.equal({
      proxytype: 'x',
    });
    expect(agentOf({ argv: ['--labels', 'proxyType=x'] }).labels).to.deep.equal({ proxyType: 'x' });
    expect(agentOf({ env: { MON_LABELS: 'proxyType=x' } }).labels).to.deep.equal({ proxyType: 'x' });
  });

  for (const { argv, message, fields } of [
    {
      argv: ['--backend-heartbeat-interval', '40', '--backend-heartbeat-timeout', '40'],
      message: 'the heartbeat timeout (40) must be bigger than the heartbeat interval (40), increasing the timeout',
      fields: { used: 66 },
    },
    {
      argv: ['--labels', 'a/b=c'],
      message: 'label key is not of letters, digits and underscores after a letter',
      fields: { flag: 'labels', key: 'a/b' },
    },
    {
      argv: ['--keepalive-pipelines', 'core/v2.Pipeline ok,core/v2.Handler.x'],
      message: 'keepalive pipeline is not a core/v2.Pipeline, backends may refuse the keepalives',
      fields: { pipeline: 'core/v2.Handler.x' },
    },
  ]) {
    it(`has a warning for ${argv.join(' ')}`, () => {
      const parsed = parseAgentConfig(sources({ argv }), AGENT_HERE);
      expect(parsed).to.have.property('warnings').that.deep.equals([{ message, fields }]);
    });
  }

  it('accepts the misspelt variable of the keepalive interval', () => {
    expect(agentOf({ env: { MON_KEEPALIVE_INTERNAL: '7' } }).keepalive.intervalS).to.equal(7);
    const both = { MON_KEEPALIVE_INTERNAL: '7', MON_KEEPALIVE_INTERVAL: '8' };
    expect(agentOf({ env: both }).keepalive.intervalS).to.equal(8);
  });

  for (const { url, is } of [
    { url: 'ws://a', is: 'ws://a:8081/' },
    { url: 'wss://a', is: 'wss://a:8081/' },
    { url: 'ws://a:9', is: 'ws://a:9/' },
    { url: 'ws://a:80', is: 'ws://a/' },
    { url: 'wss://a:443', is: 'wss://a/' },
    { url: 'ws://[::1]', is: 'ws://[::1]:8081/' },
    { url: 'ws://[::1]:9', is: 'ws://[::1]:9/' },
    { url: 'ws://a/path:1', is: 'ws://a:8081/path:1' },
  ]) {
    it(`has the backend URL ${is} for ${url}`, () => {
      expect(agentOf({ argv: ['--backend-url', url] }).backendUrls).to.deep.equal([is]);
    });
  }

  for (const { argv, is } of [
    {
      argv: ['--keepalive-critical-timeout', '60'],
      is: ['if set, --keepalive-critical-timeout must be greater than --keepalive-warning-timeout'],
    },
    {
      argv: ['--keepalive-warning-timeout', '120', '--keepalive-critical-timeout', '120'],
      is: ['if set, --keepalive-critical-timeout must be greater than --keepalive-warning-timeout'],
    },
    {
      argv: ['--keepalive-warning-timeout', '20'],
      is: ['keepalive warning timeout must be greater than keepalive interval'],
    },
    {
      argv: ['--keepalive-warning-timeout', '10', '--keepalive-critical-timeout', '15'],
      is: [
        'keepalive critical timeout must be greater than keepalive interval',
        'keepalive warning timeout must be greater than keepalive interval',
      ],
    },
    {
      argv: ['--keepalive-warning-timeout', '3', '--keepalive-interval', '1'],
      is: ['bad keepalive timeout: 3 (minimum value is 5 seconds)'],
    },
    { argv: ['--keepalive-warning-timeout', '0'], is: ['bad keepalive timeout: 0 (minimum value is 5 seconds)'] },
    { argv: ['--name', 'a b'], is: ['invalid agent name: cannot contain spaces or special characters'] },
    { argv: ['--name', ''], is: ['invalid agent name: must not be empty'] },
    { argv: ['--backend-url', ''], is: ['no backend URLs defined'] },
    { argv: ['--backend-url', 'http://x'], is: ['backend URL (http://x:8081) must have ws:// or wss:// scheme'] },
    { argv: ['--backend-url', 'ws://a,http://b:1'], is: ['backend URL (http://b:1) must have ws:// or wss:// scheme'] },
    { argv: ['--backend-url', 'http://u:p@x'], is: ['backend URL (http://x:8081) must have ws:// or wss:// scheme'] },
    { argv: ['--user', 'a:b'], is: ['user must not have a colon'] },
    { argv: ['--backend-url', 'ws://a/#b'], is: ['backend URL (ws://a/#b) must not have a fragment'] },
    { argv: ['--backend-url', 'ws://[::1'], is: ['backend URL (ws://[::1) is not a valid URL'] },
    { argv: ['--retry-min', '0'], is: ['retry-min must be above 0'] },
    { argv: ['--retry-max', '0s'], is: ['retry-max must be above 0'] },
    {
      argv: ['--retry-multiplier', '-1'],
      is: ['invalid argument "-1" for "--retry-multiplier" flag: must be a number not below 0'],
    },
    {
      argv: ['--events-queue-max', '0'],
      is: ['invalid argument "0" for "--events-queue-max" flag: must be a whole number from 1 to 2147483647'],
    },
    {
      argv: ['--backend-handshake-timeout', '1s'],
      is: [
        'invalid argument "1s" for "--backend-handshake-timeout" flag: must be a whole number of seconds from 1 to 2147483647, or 0 for the default',
      ],
    },
    { argv: ['--log-level', 'loud'], is: ['not a valid log level: "loud"'] },
    {
      argv: ['--keepalive-interval', '0'],
      is: ['invalid argument "0" for "--keepalive-interval" flag: must be a whole number from 1 to 4294967295'],
    },
    {
      argv: ['--namespace', 'a\nb'],
      is: ['namespace cannot contain control characters or letters outside of Latin-1'],
    },
    {
      argv: ['--deregistration-handler', 'x y'],
      is: ['deregistration-handler cannot contain spaces or special characters'],
    },
  ]) {
    it(`is rejected with ${argv.map((argument) => JSON.stringify(argument)).join(' ')}`, () => {
      expect(mistakesOf(() => agentOf({ argv }))).to.deep.equal(is);
    });
  }
});

describe('the program mon-agent', function () {
  this.timeout(20_000);

  const run = async (args: string[], environment: Record<string, string> = {}): Promise<AgentProcess> => {
    const agent = new AgentProcess(args, environment);
    try {
      await agent.ended();
    } finally {
      await agent.kill();
    }
    return agent;
  };

  it('prints its version, its commands and its flags', async () => {
    const [version, usage, help] = await Promise.all([run(['version']), run([]), run(['help', 'start'])]);
    expect(version?.stdout).to.match(/^mon-agent version \d+\.\d+\.\d+\+ce, community edition, built with v\d+\..*\n$/);
    expect(usage?.stdout).to.match(/^Usage: mon-agent/);
    expect(help?.stdout).to.contain('--keepalive-warning-timeout');
    expect([version, usage, help].map((agent) => agent?.child.exitCode)).to.deep.equal([0, 0, 0]);
  });

  it('logs one line for each mistake and exits with 1', async () => {
    const directory = await temporaryDirectory();
    try {
      const missing = `${directory.path}/missing.yml`;
      const agent = await run(['start', '--foo', '-c', missing, '--name', 'a b'], { MON_KEEPALIVE_INTERVAL: 'soon' });
      expect(agent.child.exitCode).to.equal(1);
      expect(agent.stdout).to.equal('');
      expect(agent.log.map(({ level, msg, flag }) => [level, msg, flag] as unknown)).to.deep.equal([
        ['fatal', 'error executing mon-agent', undefined],
        ['fatal', 'error handling agent config', 'config-file'],
        ['fatal', 'error executing mon-agent', 'keepalive-interval'],
        ['fatal', 'error executing mon-agent', 'name'],
      ]);
    } finally {
      await directory.remove();
    }
  });

  it('rejects an unknown command', async () => {
    const agent = await run(['frobnicate']);
    expect(agent.child.exitCode).to.equal(1);
    expect(agent.log[0]).to.include({ error: 'unknown command "frobnicate" for "mon-agent"' });
  });
});
