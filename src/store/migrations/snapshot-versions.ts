import { Packr } from 'msgpackr';
import type { Migration } from './migration.ts';
import { rewrite, rewriteJson } from './rewrite.ts';

/** An actor's snapshot in a store of version 2: always a top-level state, and no version. */
export interface OldSnapshot {
  value: string;
  context: object;
}

/** The same in a store of version 3: the state may be nested, and the snapshot has the version of its machine. */
export interface NewSnapshot {
  value: string | Record<string, string>;
  context: object;
  version: string;
}

/** An entity is monitored when its next alert is known. */
export function convertEntity({ value, context }: OldSnapshot): NewSnapshot {
  const isMonitored = (context as { tickMs?: unknown }).tickMs !== undefined;
  const nested = { registered: isMonitored ? 'monitored' : 'unmonitored' };
  return { value: value === 'registered' ? nested : value, context, version: '2' };
}

/** The store of version 2 does not distinguish a closing connection from a stuck one; both end when the backend starts. */
export const convertConnection = ({ value, context }: OldSnapshot): NewSnapshot => ({
  value: value === 'critical' ? { critical: 'closing' } : value,
  context,
  version: '2',
});

export const convertCheckTtl = ({ value, context }: OldSnapshot): NewSnapshot => ({ value, context, version: '1' });

const packr = new Packr({ useRecords: false });
const LENGTH_BYTES = 4;
/** Where the list of an event's state has the snapshot of its check TTL, or null. */
const TTL_AT = 8;

/** Converts the payload of an event: `state length (uint32) | state | event`, the state a MessagePack list. */
function convertEvent(payload: Buffer): Buffer {
  const eventAt = LENGTH_BYTES + payload.readUInt32LE(0);
  const state = packr.unpack(payload.subarray(LENGTH_BYTES, eventAt)) as unknown[];
  const ttl = state[TTL_AT];
  if (ttl === null || ttl === undefined) return payload;
  state[TTL_AT] = convertCheckTtl(ttl as OldSnapshot);
  const packed = packr.pack(state);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(packed.length, 0);
  return Buffer.concat([length, packed, payload.subarray(eventAt)]);
}

const convertRecord = (convert: (old: OldSnapshot) => NewSnapshot) => (record: unknown) => {
  const { actor, ...rest } = record as { actor: OldSnapshot };
  return { ...rest, actor: convert(actor) };
};

/** Snapshots of actors get the version of their machine, and the states that were hidden in contexts. */
export const SNAPSHOT_VERSIONS: Migration = {
  to: 3,
  name: 'versions and nested states of actor snapshots',
  passes: [
    rewriteJson('entities', convertRecord(convertEntity)),
    rewriteJson('sessions', convertRecord(convertConnection)),
    rewrite('events', convertEvent),
  ],
};
