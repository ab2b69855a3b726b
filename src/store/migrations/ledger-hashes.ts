import type { Migration } from './migration.ts';

/**
 * New entries of the ledger have their hashes as bytes. The entries of older versions stay as they are and remain readable, so that the
 * step converts nothing: older programs reject the store.
 */
export const LEDGER_HASHES: Migration = { to: 7, name: 'hashes of the ledger as bytes', passes: [] };
