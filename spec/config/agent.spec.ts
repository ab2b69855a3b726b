import { expect } from 'chai';
import { AgentProcess } from '../agent/agent-process.ts';
import { type AgentConfig, parseAgentConfig } from '../../src/config/agent.ts';
import { ConfigError } from '../../src/config/flags.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { sources } from './sources.ts';

function agentOf(given: Parameters<typeof sources>[0]): AgentConfig {
  const parsed = parseAgentConfig(sources(given), 'my-host');
  if ('help' in parsed) throw new Error('help instead of a configuration');
  return parsed.config;
}

function mistakesOf(...argv: string[]): string[] {
  try {
    agentOf({ argv });
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes.map(({ rule }) => rule);
    throw error;
  }
  return [];
}

describe('the configuration of the agent', () => {
  it('has the documented defaults, and the name of the host', () => {
    expect(agentOf({})).to.deep.equal({
      name: 'my-host',
      namespace: 'default',
      backendUrls: ['ws://127.0.0.1:8081/'],
      subscriptions: [],
      user: 'agent',
      password: 'P@ssw0rd!',
      keepalive: { intervalS: 20, warningTimeoutS: 120, criticalTimeoutS: 0 },
      cacheDir: '/var/cache/mon/mon-agent',
      logLevel: 'warn',
    });
  });

  it('reads the keepalive interval under its misspelt variable too', () => {
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
    it(`goes to ${is} for ${url}`, () => {
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
    { argv: ['--backend-url', 'ws://[::1'], is: ['backend URL (ws://[::1) is not a valid URL'] },
    { argv: ['--log-level', 'loud'], is: ['not a valid log level: "loud"'] },
    {
      argv: ['--keepalive-interval', '0'],
      is: ['invalid argument "0" for "--keepalive-interval" flag: must be a whole number from 1 to 4294967295'],
    },
    {
      argv: ['--namespace', 'a\nb'],
      is: ['namespace cannot contain control characters or letters outside of Latin-1'],
    },
  ]) {
    it(`is refused with ${argv.map((word) => JSON.stringify(word)).join(' ')}`, () => {
      expect(mistakesOf(...argv)).to.deep.equal(is);
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

  it('writes one line per mistake and ends with 1', async () => {
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

  it('refuses a command that it does not have', async () => {
    const agent = await run(['frobnicate']);
    expect(agent.child.exitCode).to.equal(1);
    expect(agent.log[0]).to.include({ error: 'unknown command "frobnicate" for "mon-agent"' });
  });
});
