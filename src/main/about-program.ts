import { ConfigError } from '../config/parsing/flags.ts';
import { suggestion } from '../config/parsing/suggestion.ts';
import { readVersion } from './process/version.ts';

const HELP_FLAGS = ['-h', '--help'];

/**
 * Returns the version or the usage text of `mon-backend`, whichever the command asks for.
 *
 * @throws ConfigError for an unknown command, or a flag that these have not
 */
export function aboutProgram(
  [command = 'help', ...argv]: readonly string[],
  { usage, commands }: { usage: string; commands: readonly string[] },
): string {
  if (HELP_FLAGS.includes(command)) return usage;
  if (!['version', '--version', 'help'].includes(command)) throw refusal(unknownCommand(command, argv, commands));
  if (argv.some((argument) => HELP_FLAGS.includes(argument))) return usage;
  const flag = argv.find((argument) => argument.startsWith('-'));
  if (flag !== undefined) throw refusal(`unknown flag: ${flag}`);
  return command === 'help'
    ? usage
    : `mon-backend version ${readVersion()}+ce, community edition, built with ${process.version}\n`;
}

function unknownCommand(command: string, argv: readonly string[], commands: readonly string[]): string {
  const subcommands = commands.filter((name) => name.startsWith(`${command} `));
  const name = subcommands.length === 0 ? command : [command, ...argv.slice(0, 1)].join(' ');
  const meant = suggestion(name, commands) ?? (subcommands.join(' or ') || undefined);
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `unknown command "${name}" for "mon-backend"${hint}`;
}

const refusal = (rule: string): ConfigError => new ConfigError([{ flag: undefined, rule }]);
