import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

const PROGRAM_TIMEOUT_MS = 5_000;
const MAX_PROGRAM_OUTPUT_BYTES = 1024 * 1024;

/** How information about the machine is read. */
export interface SystemTools {
  /** Resolves to undefined for a file that does not exist or cannot be read. */
  readText(path: string): Promise<string | undefined>;
  /**
   * Runs a program without a shell. Resolves to its output and then its standard error, whatever its exit code; undefined if it
   * cannot be started or does not end in 5 s.
   */
  run(program: string, args: readonly string[]): Promise<string | undefined>;
}

export const systemTools: SystemTools = {
  readText: async (path) => readFile(path, 'utf8').catch(() => undefined),
  run: async (program, args) =>
    new Promise((resolve) => {
      const options = { timeout: PROGRAM_TIMEOUT_MS, maxBuffer: MAX_PROGRAM_OUTPUT_BYTES, windowsHide: true };
      execFile(program, args, options, (error, output, errors) => {
        // An exit code is a number; a program that was not started or was killed has none.
        const hasEnded = error === null || typeof error.code === 'number';
        resolve(hasEnded ? output + errors : undefined);
      });
    }),
};
