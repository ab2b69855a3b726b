import { expect } from 'chai';
import { type AgentConfig, parseAgentConfig } from '../../src/config/agent.ts';
import { sources } from './sources.ts';

const PROGRAM_DATA = { ALLUSERSPROFILE: 'D:\\Data' };

/** `file` is read by default: it names the agent. */
function agentOn(platform: string, isService: boolean, file: string): AgentConfig {
  const files = { [file]: 'name: from-the-file' };
  const parsed = parseAgentConfig(sources({ files, env: PROGRAM_DATA }), { hostname: 'h', platform, isService });
  if ('help' in parsed || 'print' in parsed) throw new Error('no configuration');
  return parsed.config;
}

/** Source: the seed, "Agent configuration flags". */
const TABLE = [
  {
    platform: 'linux',
    configFile: '/etc/mon/agent.yml',
    cacheDir: '/var/cache/mon/mon-agent',
    serviceLogFile: undefined,
  },
  {
    platform: 'darwin',
    configFile: '/etc/mon/agent.yml',
    cacheDir: '/var/cache/mon/mon-agent',
    serviceLogFile: undefined,
  },
  {
    platform: 'freebsd',
    configFile: '/usr/local/etc/mon/agent.yml',
    cacheDir: '/var/cache/mon/mon-agent',
    serviceLogFile: undefined,
  },
  {
    platform: 'win32',
    configFile: 'C:\\ProgramData\\mon\\config\\agent.yml',
    cacheDir: 'C:\\ProgramData\\mon\\cache\\mon-agent',
    serviceLogFile: 'D:\\Data\\mon\\log\\mon-agent.log',
  },
];

describe('the default paths of the agent', () => {
  for (const { platform, configFile, cacheDir, serviceLogFile } of TABLE) {
    it(`are those of ${platform}`, () => {
      const { name, cacheDir: used, logFile } = agentOn(platform, false, configFile);
      expect([name, used, logFile]).to.deep.equal(['from-the-file', cacheDir, undefined]);
    });

    it(`of the service on ${platform} ${serviceLogFile === undefined ? 'have no log file' : 'have its log file'}`, () => {
      expect(agentOn(platform, true, configFile).logFile?.file).to.equal(serviceLogFile);
    });
  }
});
