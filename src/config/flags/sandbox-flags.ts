import { type Flag, type FlagValues, kinds } from '../parsing/flags.ts';

const MAX_WORKERS = 16;

/** The sandbox that runs users' JavaScript. */
export interface SandboxConfig {
  /** Threads that run JavaScript at the same time; two by default. */
  readonly jsWorkers?: number;
}

export const sandboxFlags = {
  'js-workers': {
    kind: kinds.integer(1, MAX_WORKERS),
    fallback: 2,
    about: 'threads that run the JavaScript of filters, mutators and checks',
  },
} satisfies Record<string, Flag<unknown>>;

export const sandboxConfig = (values: FlagValues<typeof sandboxFlags>): SandboxConfig => ({
  jsWorkers: values['js-workers'],
});
