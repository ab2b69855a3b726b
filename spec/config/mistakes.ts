import { ConfigError } from '../../src/config/parsing/flags.ts';

/** Returns the rules that a configuration breaks. Any other error is rethrown. */
export function mistakesOf(parse: () => unknown): string[] {
  try {
    parse();
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes.map(({ rule }) => rule);
    throw error;
  }
  return [];
}
