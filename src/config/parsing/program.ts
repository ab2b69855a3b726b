import type { FlagTable, FlagValues } from './flag.ts';

/** A rule for one value or several. It is not checked when one of `flags` has no valid value. */
export interface Rule<F> {
  flags: readonly (keyof F & string)[];
  /** Returns the error, or undefined when the values keep the rule. */
  broken(values: FlagValues<F>): string | undefined;
}

export interface Program<F extends FlagTable, T> {
  usage: string;
  environmentPrefix: string;
  flags: F;
  /** Keys of the same file that are flags of other commands, and cause no warning. */
  keysOfOthers?: readonly string[];
  /** Whether the warning about settings without effect is left to another command with the same file and environment. */
  sharesSettings?: boolean;
  rules: readonly Rule<F>[];
  /** Builds the configuration, and warns of values that are valid but risky. */
  build(values: FlagValues<F>, warn: (warning: ConfigWarning) => void, isGiven: (name: keyof F & string) => boolean): T;
}

/** The sources of settings. `readFile` throws as `fs.readFileSync` does. */
export interface Sources {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  readFile(path: string): string;
  /** The width of the terminal that shows the help; undefined when the output is not a terminal. */
  columns?: number | undefined;
}

export interface ConfigWarning {
  message: string;
  fields: Record<string, unknown>;
}

/**
 * `help` is a text that is printed in place of running the program: its help, or the settings that `--print-config` asks for, with
 * the warnings about them.
 */
export type Parsed<T> =
  | { readonly help: string; readonly warnings?: readonly ConfigWarning[] }
  | { readonly config: T; readonly warnings: readonly ConfigWarning[] };
