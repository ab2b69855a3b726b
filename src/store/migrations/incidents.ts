import { createHash } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { Migration, RecordWrite } from './migration.ts';

/** The first members of the list in which a store of version 5 keeps the state of a check. */
type OldState = [
  statuses: number[],
  executed: number[],
  occurrences: number,
  watermark: number,
  state: string,
  totalStateChange: number,
  lastOk: number,
];

const packr = new Packr({ useRecords: false });
const LENGTH_BYTES = 4;
const NAMESPACE = Buffer.from('5b0d9f0e2a614c0e9a5b3b1f3d3c8f11', 'hex');
const UUID_BYTES = 16;

/** A UUID of version 5 (RFC 9562). */
function uuidOf(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, UUID_BYTES);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Returns the incident of a stored event, from its history; nothing for one that is not open. */
export function incidentOf(key: string, [statuses, executed, , , name, , lastOk]: OldState): RecordWrite[] {
  const last = statuses.length - 1;
  const status = statuses[last] ?? 0;
  if (status === 0 && name !== 'flapping') return [];
  let changed = last;
  while (changed > 0 && statuses[changed - 1] === status) changed -= 1;
  let opened = changed;
  while (opened > 0 && statuses[opened - 1] !== 0) opened -= 1;
  const incident = {
    id: uuidOf(`${key}/${lastOk}`),
    openedAtS: executed[opened] ?? 0,
    lastStateChangeS: executed[changed] ?? 0,
  };
  return [{ table: 'incidents', key, payload: Buffer.from(JSON.stringify(incident)) }];
}

/** Open events get an incident. Source: spec/05 3.3. */
export const INCIDENTS: Migration = {
  to: 6,
  name: 'incidents of open events',
  passes: [
    {
      table: 'events',
      writes({ key, payload }) {
        const eventAt = LENGTH_BYTES + payload.readUInt32LE(0);
        return incidentOf(key, packr.unpack(payload.subarray(LENGTH_BYTES, eventAt)) as OldState);
      },
    },
  ],
};
