import type { Environment } from '../process/hide-secrets.ts';

/** The variables that the printed command keeps: directories, configuration files and listen addresses. None is a secret. */
const KEPT = [
  'MON_BACKEND_CONFIG_FILE',
  'MON_CONFIG_FILE',
  'MON_BACKEND_STATE_DIR',
  'MON_BACKEND_CONTROL_SOCKET',
  'MON_BACKEND_CACHE_DIR',
  'MON_CACHE_DIR',
  'MON_BACKEND_API_LISTEN_ADDRESS',
  'MON_BACKEND_AGENT_HOST',
  'MON_BACKEND_AGENT_PORT',
  'MON_BACKEND_DASHBOARD_HOST',
  'MON_BACKEND_DASHBOARD_PORT',
  'MON_BACKEND_LEGACY_API_LISTEN_ADDRESS',
  'MON_API_HOST',
  'MON_API_PORT',
  'MON_SOCKET_HOST',
  'MON_SOCKET_PORT',
  'MON_STATSD_METRICS_HOST',
  'MON_STATSD_METRICS_PORT',
];

/** Quotes a word for a shell when it needs that. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Returns a command for a POSIX shell that starts mon with the same directories and addresses, except those in `changed`. */
export function startCommand(environment: Environment, changed: Readonly<Record<string, string>>): string {
  const kept = KEPT.flatMap((name) => {
    const value = environment[name];
    return value === undefined || Object.hasOwn(changed, name) ? [] : [[name, value] as const];
  });
  const settings = [...kept, ...Object.entries(changed)].map(([name, value]) => `${name}=${quoted(value)}`);
  return [...settings, 'npm start'].join(' ');
}
