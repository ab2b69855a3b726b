/** The defaults of the agent's paths, which depend on the system. */
export interface AgentDefaults {
  readonly configFile: string;
  readonly cacheDir: string;
  /** The log file of the service; `start` logs to standard error by default. */
  readonly serviceLogFile: string;
}

const UNIX: AgentDefaults = {
  configFile: '/etc/mon/agent.yml',
  cacheDir: '/var/cache/mon/mon-agent',
  serviceLogFile: '',
};

/** `platform` as Node.js names it. Source: the seed, "Agent configuration flags". */
export function agentDefaults(
  platform: string,
  environment: Readonly<Record<string, string | undefined>>,
): AgentDefaults {
  if (platform === 'freebsd') return { ...UNIX, configFile: '/usr/local/etc/mon/agent.yml' };
  if (platform !== 'win32') return UNIX;
  const data = 'C:\\ProgramData';
  return {
    configFile: `${data}\\mon\\config\\agent.yml`,
    cacheDir: `${data}\\mon\\cache\\mon-agent`,
    serviceLogFile: `${environment['ALLUSERSPROFILE'] ?? data}\\mon\\log\\mon-agent.log`,
  };
}
