import { BACKEND_FILE_KEYS } from './flags/command-flags.ts';
import { kinds, type Parsed, parseFlags, type Sources } from './parsing/flags.ts';
import { ENVIRONMENT_PREFIX, stateDirRule, stateFlags } from './flags/state-flags.ts';

export interface ExportConfig {
  readonly stateDir: string;
  /** The file to create. */
  readonly path: string;
  /** The number of the entry after which the export begins. */
  readonly after: number;
}

const MAX_SEQ = 2 ** 32 - 1;

const exportFlags = {
  ...stateFlags,
  path: { kind: kinds.text, fallback: '', about: 'the file to create, also as an argument', isOperand: true },
  after: { kind: kinds.integer(0, MAX_SEQ), fallback: 0, about: 'export only entries after this number' },
};

/** The flags of `mon-backend ledger export`, without the command itself. @throws ConfigError */
export function parseExportConfig(sources: Sources): Parsed<ExportConfig> {
  return parseFlags<typeof exportFlags, ExportConfig>(
    {
      usage: 'mon-backend ledger export <path>',
      environmentPrefix: ENVIRONMENT_PREFIX,
      flags: exportFlags,
      keysOfOthers: BACKEND_FILE_KEYS,
      sharesSettings: true,
      rules: [
        stateDirRule,
        {
          flags: ['path'],
          broken: ({ path }) => (path === '' ? 'the file is missing: mon-backend ledger export <path>' : undefined),
        },
      ],
      build: (values) => Object.freeze({ stateDir: values['state-dir'], path: values.path, after: values.after }),
    },
    sources,
  );
}
