import { Command, CommanderError, Option } from 'commander';
import type { Mistake } from './config-error.ts';
import type { FlagTable } from './flag.ts';
import { suggestion } from './suggestion.ts';

const TRUTH_VALUE = /^(?:true|false)$/i;

interface CommandLine {
  /** The texts of each flag that was given, in order. */
  given: Map<string, string[]>;
  wantsHelp: boolean;
  /** Whether an unknown flag stands before the name of the configuration file, or there is none. */
  failsBeforeFile: boolean;
  /** Truth values that follow a flag which takes its value after an equals sign. They have no effect. */
  strays: string[];
}

function commandOf(flags: FlagTable): Command {
  const command = new Command().exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  for (const [long, { short, formerName, kind }] of Object.entries(flags)) {
    const value = kind.placeholder === undefined ? '' : ` <${kind.placeholder}>`;
    command.addOption(new Option(`${short === undefined ? '' : `-${short}, `}--${long}${value}`));
    if (formerName !== undefined) command.addOption(new Option(`--${formerName}${value}`));
  }
  return command;
}

/** Reads the texts of each flag on the command line. Adds the mistakes of the command line itself to `mistakes`. */
export function readCommandLine(flags: FlagTable, argv: readonly string[], mistakes: Mistake[]): CommandLine {
  const command = commandOf(flags);
  const given = new Map<string, string[]>();
  const add = (name: string, text: string): void => {
    given.set(name, [...(given.get(name) ?? []), text]);
  };
  const names = Object.entries(flags).flatMap(([name, { formerName }]) => [name, ...(formerName ? [formerName] : [])]);
  for (const name of names) command.on(`option:${name}`, (text?: string) => add(name, text ?? 'true'));
  let left: { operands: string[]; unknown: string[] } = { operands: [], unknown: [] };
  try {
    left = command.parseOptions([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Only the last argument can lack its value; those before it are still checked.
    const last = argv.at(-1)?.replace(/^-+/, '');
    const flag = Object.keys(flags).find((name) => name === last || flags[name]?.short === last);
    mistakes.push({ flag, rule: `flag needs an argument: --${flag ?? last}` });
    given.clear();
    left = command.parseOptions(argv.slice(0, -1));
  }
  const strays = left.operands.filter((operand) => TRUTH_VALUE.test(operand));
  for (const operand of left.operands) {
    if (TRUTH_VALUE.test(operand)) continue;
    const taker = Object.keys(flags).find((name) => flags[name]?.isOperand === true && !given.has(name));
    if (taker === undefined) mistakes.push({ flag: undefined, rule: `unexpected argument "${operand}"` });
    else add(taker, operand);
  }
  for (const [index, argument] of left.unknown.entries()) {
    const [, long, text] = /^--([^=]+)=(.*)$/s.exec(argument) ?? [];
    const isFlag = argument.length > 1 && argument.startsWith('-');
    if (long !== undefined && Object.hasOwn(flags, long)) add(long, text ?? '');
    else if (isFlag) mistakes.push({ flag: undefined, rule: unknownFlag(argument, Object.keys(flags)) });
    else if (!left.unknown[index - 1]?.startsWith('-')) {
      mistakes.push({ flag: undefined, rule: `unexpected argument "${argument}"` });
    }
  }
  return {
    given,
    wantsHelp: left.unknown.includes('-h') || left.unknown.includes('--help'),
    strays,
    failsBeforeFile: failsBeforeFile(argv, left.unknown),
  };
}

function failsBeforeFile(argv: readonly string[], [firstUnknown]: readonly string[]): boolean {
  const file = argv.findIndex((argument) => /^(?:-c|--config-file(?:=|$))/.test(argument));
  return file < 0 || (firstUnknown !== undefined && argv.indexOf(firstUnknown) < file);
}

function unknownFlag(argument: string, names: readonly string[]): string {
  const [spelling = ''] = argument.split('=', 1);
  const meant = suggestion(spelling.replace(/^-+/, ''), names);
  const hint = meant === undefined ? '' : ` (did you mean --${meant}?)`;
  return argument.startsWith('--')
    ? `unknown flag: ${spelling}${hint}`
    : `unknown shorthand flag: '${argument[1]}' in ${argument}${hint}`;
}
