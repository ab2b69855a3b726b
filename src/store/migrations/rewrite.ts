import type { TablePass } from './migration.ts';

/** A pass that replaces each payload of a table. Records whose payload stays the same are not written. */
export function rewrite(table: string, change: (payload: Buffer) => Buffer): TablePass {
  return {
    table,
    writes({ key, payload }) {
      const changed = change(payload);
      return changed.equals(payload) ? [] : [{ table, key, payload: changed }];
    },
  };
}

/** Rewrites a table whose payloads are JSON. */
export const rewriteJson = (table: string, change: (value: unknown) => unknown): TablePass =>
  rewrite(table, (payload) => Buffer.from(JSON.stringify(change(JSON.parse(payload.toString())))));
