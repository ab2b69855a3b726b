import { ConfigError } from '../config/parsing/config-error.ts';
import { suggestion } from '../config/parsing/suggestion.ts';
import { readVersion } from './process/version.ts';

const HELP_FLAGS = ['-h', '--help'];
/** Other commands read the file that it names. */
const CONFIG_FILE_FLAG = /^(?:-c|--config-file)(?:=|$)/;
/** The name of the file is the next argument. */
const SEPARATE_CONFIG_FILE_FLAGS: readonly (string | undefined)[] = ['-c', '--config-file'];

interface About {
  /** The name of the program, such as `mon-backend`. */
  program: string;
  usage: string;
  commands: readonly string[];
}

/**
 * Returns the version or the usage text of a program, whichever the arguments ask for. The first word of commands of two
 * words, such as `ledger`, asks for the usage text.
 *
 * @throws ConfigError for an unknown command, an unknown flag or a surplus argument
 */
export function aboutProgram([command = 'help', ...argv]: readonly string[], about: About): string {
  const { program, usage, commands } = about;
  const wantsHelp = argv.length === 0 || argv.some((argument) => HELP_FLAGS.includes(argument));
  if (HELP_FLAGS.includes(command)) return usage;
  if (wantsHelp && subcommands(command, commands).length > 0) return usage;
  if (command === 'help') return helpAbout(argv, about);
  if (command !== 'version' && command !== '--version') throw refusal(unknownCommand([command, ...argv], about));
  if (argv.length > 0 && wantsHelp) return usage;
  rejectFlags(argv);
  rejectOperands(operandsOf(argv));
  return `${program} version ${readVersion()}+ce, community edition, built with ${process.version}\n`;
}

/** Returns the usage text. `help` with the name of a command that has flags is not for this function. */
function helpAbout(argv: readonly string[], about: About): string {
  const { usage, commands } = about;
  if (argv.some((argument) => HELP_FLAGS.includes(argument))) return usage;
  rejectFlags(argv);
  const name = argv.join(' ');
  const isKnown = name === '' || commands.includes(name) || subcommands(name, commands).length > 0;
  if (isKnown) return usage;
  const words = [2, 1].find((count) => commands.includes(argv.slice(0, count).join(' ')));
  if (words !== undefined) rejectOperands(argv.slice(words));
  throw refusal(unknownCommand(argv, about));
}

function rejectFlags(argv: readonly string[]): void {
  const flag = argv.find((argument) => argument.startsWith('-') && !CONFIG_FILE_FLAG.test(argument));
  if (flag !== undefined) throw refusal(`unknown flag: ${flag}`);
}

/** The arguments that are neither flags nor the name of the configuration file. */
const operandsOf = (argv: readonly string[]): string[] =>
  argv.filter((argument, index) => !argument.startsWith('-') && !SEPARATE_CONFIG_FILE_FLAGS.includes(argv[index - 1]));

function rejectOperands([operand]: readonly string[]): void {
  if (operand !== undefined) throw refusal(`unexpected argument "${operand}"`);
}

const subcommands = (command: string, commands: readonly string[]): string[] =>
  commands.filter((name) => name.startsWith(`${command} `));

function unknownCommand([command = '', ...argv]: readonly string[], { program, commands }: About): string {
  if (command.startsWith('-')) {
    const [flag] = command.split('=', 1);
    return `unknown flag: ${flag}; flags follow a command, as in "${program} start ${flag}"`;
  }
  const longer = subcommands(command, commands);
  const name = longer.length === 0 ? command : [command, ...argv.slice(0, 1)].join(' ');
  const meant = suggestion(name, commands) ?? (longer.join(' or ') || undefined);
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `unknown command "${name}" for "${program}"${hint}`;
}

const refusal = (rule: string): ConfigError => new ConfigError([{ flag: undefined, rule }]);
