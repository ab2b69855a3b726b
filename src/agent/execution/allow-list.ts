import { type Static, Type } from 'typebox';
import { parse } from 'yaml';
import { InvalidResource } from '../../resources/errors.ts';
import { flag, optional, text, textList, textsOf, validator } from '../../resources/schema.ts';

const EntrySchema = Type.Object({
  exec: optional(text()),
  args: optional(textList()),
  sha512: optional(text()),
  enable_env: optional(flag()),
});
const validate = validator('allow-list', Type.Array(EntrySchema));

/** A program that the agent may run. Source: spec/03 4.6. */
export interface AllowedProgram {
  /** The text of the program in commands. Not empty. */
  readonly exec: string;
  /** The arguments that commands may have, at least one. An empty text stands for none. */
  readonly args: readonly string[];
  /** The checksum of the program's file in lower case; empty when any file is allowed. */
  readonly sha512: string;
  /** Whether commands get the environment variables of their check. */
  readonly allowsEnvironment: boolean;
}

/**
 * Parses the text of an allow list, YAML or JSON by the name of its file. An empty list allows every command.
 * @throws InvalidResource
 */
export function parseAllowList(path: string, content: string): AllowedProgram[] {
  if (!/\.(?:ya?ml|json)/.test(path)) throw new InvalidResource('invalid file extension');
  const value = /\.ya?ml/.test(path) ? parsed(content, (yaml) => parse(yaml) as unknown) : parsed(content, parsedJson);
  return validate(value ?? []).map(programOf);
}

const parsedJson = (json: string): unknown => JSON.parse(json) as unknown;

function parsed(content: string, parser: (content: string) => unknown): unknown {
  try {
    return parser(content);
  } catch (error) {
    throw new InvalidResource((error as Error).message, { cause: error });
  }
}

function programOf(entry: Static<typeof EntrySchema>): AllowedProgram {
  const args = textsOf(entry.args ?? []);
  if (!entry.exec) throw new InvalidResource('exec cannot be empty');
  if (args.length === 0) throw new InvalidResource('args cannot be empty');
  return {
    exec: entry.exec,
    args,
    sha512: (entry.sha512 ?? '').toLowerCase(),
    allowsEnvironment: entry.enable_env ?? false,
  };
}

/** A line break does not separate arguments: it begins another command, so an argument would be run as a program. */
const BLANKS = /^[ \t]*$/;

/**
 * Returns the first program that allows the command. The command must consist of the program and its listed arguments
 * only; arguments may be missing and may be in any order.
 */
export const allowedBy = (list: readonly AllowedProgram[], command: string): AllowedProgram | undefined =>
  list.find(({ exec, args }) => {
    if (!command.includes(exec)) return false;
    const rest = [exec, ...args].reduce(
      (left, part) => (part === '' ? left : left.replaceAll(part, '')),
      command.trim(),
    );
    return BLANKS.test(rest);
  });
