import type { FlagTable } from './flag.ts';
import type { Program } from './program.ts';

type Prefixed = Pick<Program<FlagTable, unknown>, 'environmentPrefix' | 'flags'>;

/** The environment variable of a flag, such as `MON_BACKEND_STATE_DIR` for `state-dir`. */
export const variableName = ({ environmentPrefix }: Pick<Prefixed, 'environmentPrefix'>, name: string): string =>
  environmentPrefix + name.toUpperCase().replaceAll('-', '_');

/** Finds the variable that sets a flag: the regular one, else that of its former name, else another one. An empty one is unset. */
export function findVariable(
  program: Prefixed,
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): { variable: string; text: string } | undefined {
  const flag = program.flags[name];
  for (const spelling of [name, flag?.formerName ?? [], flag?.otherVariables ?? []].flat()) {
    const variable = variableName(program, spelling);
    const text = env[variable];
    if (text !== undefined && text !== '') return { variable, text };
  }
  return undefined;
}
