import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inTime } from './eventually.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface BlockResult {
  /** Exit status; NaN if the shell ended before the block did. */
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs blocks of commands in one `sh`, so that later blocks see the variables of earlier ones. */
export async function runBlocks(
  blocks: readonly string[],
  environment: Readonly<Record<string, string>>,
  withinMs = 60_000,
): Promise<BlockResult[]> {
  const directory = await temporaryDirectory();
  const fileOf = (index: number, what: string): string => join(directory.path, `${index}.${what}`);
  try {
    for (const [index, block] of blocks.entries()) await writeFile(fileOf(index, 'sh'), `${block}\n`);
    const script = blocks.map((_, index) => {
      const [source, out, err, code] = ['sh', 'out', 'err', 'code'].map((what) => `'${fileOf(index, what)}'`);
      return `. ${source} >${out} 2>${err} </dev/null; echo $? >${code}`;
    });
    const { PATH = '' } = process.env;
    const shell = spawn('sh', ['-c', script.join('\n')], { env: { PATH, ...environment }, stdio: 'ignore' });
    try {
      await inTime(once(shell, 'exit'), 'the end of the shell', withinMs);
    } finally {
      shell.kill('SIGKILL');
    }
    return await Promise.all(
      blocks.map(async (_, index) => {
        const [stdout = '', stderr = '', code = ''] = await Promise.all(
          ['out', 'err', 'code'].map((what) => readIfThere(fileOf(index, what))),
        );
        return { code: code === '' ? NaN : Number(code), stdout, stderr };
      }),
    );
  } finally {
    await directory.remove();
  }
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
