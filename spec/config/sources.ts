import type { Sources } from '../../src/config/parsing/flags.ts';

interface Given {
  argv?: readonly string[];
  env?: Record<string, string>;
  files?: Record<string, string>;
}

/** Returns sources of settings in memory. A file that is not given does not exist. */
export const sources = ({ argv = [], env = {}, files = {} }: Given): Sources => ({
  argv,
  env,
  readFile(path) {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' });
    return text;
  },
});
