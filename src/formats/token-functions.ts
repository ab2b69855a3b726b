import { BUILT_IN, type TemplateFunctions } from './template/functions.ts';

const ASSET_NAME_SEPARATORS = /[^A-Za-z0-9]+/g;

/** The functions that tokens can call: those of Go, and two of the reference. */
export const TOKEN_FUNCTIONS: TemplateFunctions = new Map([
  ...BUILT_IN,
  ['default', { arity: { min: 0 }, run: (args) => (args.length < 2 ? args[0] : (args.at(-1) ?? args[0])) }],
  [
    'assetPath',
    {
      arity: { min: 1, max: 1 },
      texts: [0],
      run: ([name]) => (typeof name === 'string' ? variableOf(name) : undefined),
    },
  ],
]);

/** Returns the name of the environment variable that has the directory of an asset. */
const variableOf = (asset: string): string => `${asset.replaceAll(ASSET_NAME_SEPARATORS, '_').toUpperCase()}_PATH`;
