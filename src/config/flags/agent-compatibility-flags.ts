import { kinds, withoutEffect } from '../parsing/flags.ts';

/** Flags of the reference that `mon-agent start` accepts, validates and ignores. */
export const agentCompatibilityFlags = {
  ...withoutEffect('the entity of the agent lists no processes', { 'discover-processes': kinds.boolean }),
  ...withoutEffect('mon uses the cryptography of Node.js', {
    'require-fips': kinds.boolean,
    'require-openssl': kinds.boolean,
  }),
};
