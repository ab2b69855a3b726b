import { existsSync } from 'node:fs';

const PLUGINS = '/usr/lib/nagios/plugins';
const INTERVAL_S = 10;
const TIMEOUT_S = 8;

/** Warns at 85 % and is critical at 95 %; needs only POSIX tools. */
const ROOT_FILESYSTEM = `df -P / | awk 'NR == 2 { used = $5 + 0; printf "root filesystem %d%% used\\n", used; exit (used >= 95 ? 2 : used >= 85 ? 1 : 0) }'`;

/** Commands of Debian's monitoring-plugins-basic, used when they are installed. */
const PLUGIN_COMMANDS: Record<string, string> = {
  check_load: '-w 8,6,4 -c 16,12,8',
  check_disk: '-w 15% -c 5% -p /',
  check_procs: '-w 1000 -c 2000',
};

const ALERTS = 'alerts';

/** Handlers that append each problem, and its end, to a file as a line of JSON; missing keepalives among them. */
export function localHandlers(alertFile: string) {
  const metadata = (name: string) => ({ name, namespace: 'default' });
  const command = `{ cat; echo; } >> '${alertFile.replaceAll("'", `'\\''`)}'`;
  return [
    { metadata: metadata(ALERTS), type: 'pipe', command, timeout: 10, filters: ['is_incident', 'not_silenced'] },
    { metadata: metadata('keepalive'), type: 'set', handlers: [ALERTS] },
  ];
}

/** Checks of this machine for a first look, for agents with the subscription. */
export function localChecks(subscription: string) {
  const check = (name: string, command: string) => ({
    metadata: { name, namespace: 'default' },
    command,
    interval: INTERVAL_S,
    timeout: TIMEOUT_S,
    ttl: 6 * INTERVAL_S,
    publish: true,
    subscriptions: [subscription],
    handlers: [ALERTS],
  });
  const plugins = Object.entries(PLUGIN_COMMANDS).filter(([name]) => existsSync(`${PLUGINS}/${name}`));
  return [
    check('root-filesystem', ROOT_FILESYSTEM),
    ...plugins.map(([name, flags]) => check(name.replace('_', '-'), `${PLUGINS}/${name} ${flags}`)),
  ];
}
