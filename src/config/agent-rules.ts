import type { AgentFlags } from './flags/agent-flags.ts';
import { urlError } from './backend-urls.ts';
import type { FlagValues, Program } from './parsing/flags.ts';
import { logFileRule } from './flags/log-file-flags.ts';
import { handlerNameRule, nameError } from './flags/name-rules.ts';
import { keyPairRule } from './flags/tls-flags.ts';

const MIN_TIMEOUT_S = 5;
/** The characters that headers can carry: no control characters, and one byte each. */
const HEADER_TEXT = /^[\x20-\x7e\xa0-\xff]*$/;

type Values = FlagValues<AgentFlags>;

const CRITICAL_ABOVE_WARNING = 'if set, --keepalive-critical-timeout must be greater than --keepalive-warning-timeout';

/** The rules that combine flags of the agent, or that need more than the kind of a flag. */
export const agentRules: Program<AgentFlags, unknown>['rules'] = [
  {
    flags: ['keepalive-critical-timeout', 'keepalive-warning-timeout'],
    broken: ({ 'keepalive-critical-timeout': critical, 'keepalive-warning-timeout': warning }) =>
      critical !== 0 && critical < warning ? CRITICAL_ABOVE_WARNING : undefined,
  },
  {
    flags: ['keepalive-critical-timeout', 'keepalive-interval'],
    broken: ({ 'keepalive-critical-timeout': critical, 'keepalive-interval': interval }) =>
      critical > 0 && critical <= interval
        ? 'keepalive critical timeout must be greater than keepalive interval'
        : undefined,
  },
  {
    flags: ['keepalive-warning-timeout', 'keepalive-interval'],
    broken: ({ 'keepalive-warning-timeout': warning, 'keepalive-interval': interval }) =>
      warning > 0 && warning <= interval
        ? 'keepalive warning timeout must be greater than keepalive interval'
        : undefined,
  },
  {
    flags: ['keepalive-critical-timeout', 'keepalive-warning-timeout'],
    broken: ({ 'keepalive-critical-timeout': critical, 'keepalive-warning-timeout': warning }) =>
      critical !== 0 && critical === warning ? CRITICAL_ABOVE_WARNING : undefined,
  },
  { flags: ['name'], broken: ({ name }) => nameError(name, 'invalid agent name:') },
  {
    flags: ['keepalive-warning-timeout'],
    broken: ({ 'keepalive-warning-timeout': warning }) =>
      warning < MIN_TIMEOUT_S
        ? `bad keepalive timeout: ${warning} (minimum value is ${MIN_TIMEOUT_S} seconds)`
        : undefined,
  },
  {
    flags: ['keepalive-critical-timeout'],
    broken: ({ 'keepalive-critical-timeout': critical }) =>
      critical !== 0 && critical < MIN_TIMEOUT_S
        ? `bad keepalive critical timeout: ${critical} (minimum value is ${MIN_TIMEOUT_S} seconds)`
        : undefined,
  },
  { flags: ['backend-url'], broken: (values) => urlError(values['backend-url']) },
  {
    flags: ['user'],
    // In Basic credentials the name ends at the first colon.
    broken: ({ user }) => (user.includes(':') ? 'user must not have a colon' : undefined),
  },
  keyPairRule,
  logFileRule,
  handlerNameRule('deregistration-handler'),
  ...(['namespace', 'user', 'subscriptions'] as const).map((flag) => ({
    flags: [flag],
    broken: (values: Values) =>
      HEADER_TEXT.test(String(values[flag]))
        ? undefined
        : `${flag} cannot contain control characters or letters outside of Latin-1`,
  })),
  ...(['retry-min', 'retry-max'] as const).map((flag) => ({
    flags: [flag],
    broken: (values: Values) => (values[flag] > 0 ? undefined : `${flag} must be above 0`),
  })),
];
