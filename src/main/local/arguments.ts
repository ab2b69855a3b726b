import { ConfigError } from '../../config/parsing/config-error.ts';

const HELP = ['-h', '--help', 'help'];

const USAGE = `Usage: npm start

Runs a backend and an agent on this machine, with a first check. Ctrl-C stops both.

Environment variables are its settings. MON_BACKEND_STATE_DIR moves all files,
which are in .mon by default. Each flag of the two programs has a variable too:
  MON_BACKEND_DASHBOARD_PORT=9300 npm start   sets --dashboard-port of mon-backend
  MON_API_PORT=9031 npm start                 sets --api-port of mon-agent

The flags are listed by:
  npx mon-backend help start
  npx mon-agent help start
`;

/** Returns the help when the arguments of `npm start --` ask for it. @throws ConfigError for any other argument */
export function helpIn(argv: readonly string[]): string | undefined {
  const [unknown] = argv.filter((argument) => !HELP.includes(argument));
  if (unknown !== undefined) {
    const rule = `unknown argument "${unknown}": npm start has no flags; set environment variables instead: see npm start -- --help`;
    throw new ConfigError([{ flag: undefined, rule }]);
  }
  return argv.length === 0 ? undefined : USAGE;
}
