import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { eventKey } from '../../../src/store/encoding/keyspace.ts';
import { verify } from '../../../src/store/ledger/ledger-verification.ts';
import { describePage } from '../../../src/store/maintenance/intact-pages.ts';
import { walkPages } from '../../../src/store/pages/page-walk.ts';
import { eventOf } from '../../../src/store/records/records.ts';
import { numberIn } from '../../crash/load.ts';
import { BackendProcess, initialiseState } from '../../support/backend-process.ts';
import { proxyEvent } from '../../support/example-events.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { afterPowerCut, compileRecorder, type Operation, readJournal } from './journal.ts';

const SENDERS = 8;
const CHECK = 'numbered';
const DATA = 'store/data.mdb';

/** The number of an event, and the length that the journal had when its 200 arrived. */
interface Acknowledgement {
  entity: string;
  number: number;
  journalBytes: number;
}

export interface PowerCutReport {
  cuts: number;
  acknowledged: number;
  /** Acknowledged events that a cut lost, and stores that it damaged. */
  errors: string[];
}

interface Recording {
  initial: Buffer;
  operations: readonly Operation[];
  acknowledgements: readonly Acknowledgement[];
}

/**
 * Records what a backend writes while it acknowledges events, and then cuts the power at random instants of that record: what was not
 * synced before the instant is on disk in part, sector by sector.
 */
export async function powerCuts(
  { cuts, events, sync }: { cuts: number; events: number; sync: 'full' | 'none' },
  random: SeededRandom,
): Promise<PowerCutReport> {
  const directory = await temporaryDirectory();
  try {
    const recording = await record(directory.path, events, sync);
    const errors: string[] = [];
    for (let cut = 1; cut <= cuts; cut += 1) {
      const found = await cutAtRandom(join(directory.path, 'cut'), recording, random);
      errors.push(...found.map((error) => `cut ${cut}: ${error}`));
    }
    return { cuts, acknowledged: recording.acknowledgements.length, errors };
  } finally {
    await directory.remove();
  }
}

/** Lets a real backend acknowledge events, each sender one after the other, and kills it. */
async function record(directory: string, events: number, sync: 'full' | 'none'): Promise<Recording> {
  const stateDir = join(directory, 'state');
  const journal = join(directory, 'journal');
  await initialiseState(stateDir);
  const data = join(stateDir, DATA);
  const initial = readFileSync(data);
  const backend = await BackendProcess.start({
    stateDir,
    args: [`--store-sync=${sync}`],
    environment: { LD_PRELOAD: compileRecorder(directory), MON_RECORDED_FILE: data, MON_JOURNAL: journal },
  });
  const acknowledgements: Acknowledgement[] = [];
  try {
    const api = await backend.login();
    const send = async (sender: number): Promise<void> => {
      const entity = `proxy-${sender}`;
      for (let number = 1; number <= events / SENDERS; number += 1) {
        const event = proxyEvent(entity, CHECK, { status: number % 3, output: `number ${number}` });
        const { status } = await api.put(`/ns/default/events/${entity}/${CHECK}`, event);
        if (status !== 200) throw new Error(`event ${number} of ${entity} got ${status}`);
        acknowledgements.push({ entity, number, journalBytes: statSync(journal).size });
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
  } finally {
    await backend.kill();
    await backend.remove();
  }
  return { initial, operations: readJournal(journal), acknowledgements };
}

async function cutAtRandom(
  directory: string,
  { initial, operations, acknowledgements }: Recording,
  random: SeededRandom,
): Promise<string[]> {
  const count = 1 + random.below(operations.length);
  const cutBytes = operations[count - 1]?.end ?? 0;
  mkdirSync(directory);
  try {
    writeFileSync(join(directory, 'data.mdb'), afterPowerCut(initial, operations, count, random));
    return await errorsIn(directory, acknowledgedBy(acknowledgements, cutBytes));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The last number of each entity that was acknowledged before the journal had more than these bytes. */
function acknowledgedBy(acknowledgements: readonly Acknowledgement[], cutBytes: number): Map<string, number> {
  const before = acknowledgements.filter(({ journalBytes }) => journalBytes <= cutBytes);
  return new Map(before.map(({ entity, number }) => [entity, number]));
}

/** A store that cannot be read is an error of the cut, too. */
async function errorsIn(directory: string, acknowledged: ReadonlyMap<string, number>): Promise<string[]> {
  const [page] = walkPages(join(directory, 'data.mdb')).damaged;
  if (page !== undefined) return [describePage(page)];
  try {
    return await lostIn(directory, acknowledged);
  } catch (error) {
    return [`the store cannot be read: ${String(error)}`];
  }
}

async function lostIn(directory: string, acknowledged: ReadonlyMap<string, number>): Promise<string[]> {
  const store = new LmdbStore({ directory, sync: 'full', readOnly: true });
  try {
    const errors: string[] = [];
    for (const [entity, number] of acknowledged) {
      const record = store.get('events', eventKey('default', entity, CHECK));
      const stored = record === undefined ? 0 : numberIn(eventOf(record).check.output);
      if (stored < number) errors.push(`${entity}: ${number} was acknowledged, ${stored} is stored`);
    }
    const ledger = verify(store.ledgerEntries());
    if (!ledger.ok) errors.push(`the ledger is broken at ${ledger.seq}: ${ledger.reason}`);
    return errors;
  } finally {
    await store.close();
  }
}
