import { CorruptRecord } from '../encoding/sealed.ts';

/** Errors of LMDB about an intact file: no room in the map, in the table of readers or in a transaction. */
const NO_DAMAGE = /^MDB_(?:MAP_FULL|MAP_RESIZED|READERS_FULL|TXN_FULL)/;

/** Whether an error, or one of its causes, says that stored data is not what was written. */
export function isDamage(error: unknown): error is Error {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // LMDB decodes a damaged key or size without a check.
    if (cause instanceof CorruptRecord || cause instanceof RangeError) return true;
    if (cause.message.startsWith('MDB_') && !NO_DAMAGE.test(cause.message)) return true;
  }
  return false;
}
