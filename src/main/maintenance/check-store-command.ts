import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckStoreConfig } from '../../config/check-store.ts';
import { CheckedStore } from '../../store/maintenance/checked-store.ts';
import { describePage } from '../../store/maintenance/intact-pages.ts';
import { DATA_FILE } from '../../store/lmdb/lmdb-file.ts';
import { walkPages } from '../../store/pages/page-walk.ts';
import { RawStore } from '../../store/lmdb/raw-store.ts';
import { auditStore } from '../../store/maintenance/store-audit.ts';
import { checkRecords } from '../../store/maintenance/store-check.ts';
import { counted } from '../../explain/words.ts';
import { assertReadable, NoStore } from '../../store/no-store.ts';
import { readStoreState, reportingDamage } from '../../store/maintenance/store-state.ts';
import { assertKnown, STORE_VERSION } from '../../store/lmdb/store-version.ts';
import { hasActorIndex, verifyLedgerOf } from '../../store/maintenance/stored-ledger.ts';
import { storeDirectory } from '../process/directories.ts';
import { ownStore } from '../process/own-store.ts';
import { ledgerText, type MaintenancePorts } from './backup-command.ts';

/** Findings that are printed; the others are counted. */
const MAX_PRINTED = 100;

/**
 * The command `mon-backend check-store`: checks every page and every record of a store that no process uses, compares the indexes with
 * the records, and verifies the ledger. Each finding is a line of the output. Returns the exit code: 1 when there are findings.
 *
 * @throws NoStore, StoreDenied, NotADirectory, StoreInUse, StoreDamaged, StoreTooNew, StoreTooOld
 */
export async function checkStore(
  { stateDir, controlSocket }: CheckStoreConfig,
  ports: MaintenancePorts,
): Promise<number> {
  const directory = storeDirectory(stateDir);
  assertReadable(directory);
  if (!existsSync(directory)) throw new NoStore(directory);
  const lock = await ownStore(stateDir, controlSocket);
  try {
    return await reportingDamage(directory, () => check(directory, ports));
  } finally {
    lock.release();
  }
}

async function check(directory: string, { output, signal }: MaintenancePorts): Promise<number> {
  const findings = new Findings(output);
  const { pages, freePages, damaged } = pagesOf(directory);
  for (const page of damaged) findings.add(`data.mdb ${describePage(page)}`);
  if (findings.count > 0) {
    output.write(
      `${counted(findings.count, 'damaged page')}: restore the latest backup with "mon-backend restore <backup> --replace"\n`,
    );
    return 1;
  }
  const state = await readStoreState(directory);
  if (state === undefined) throw new NoStore(directory);
  assertKnown(state.version);
  const store = new RawStore({ directory, sync: 'full', readOnly: true });
  try {
    const audit = await auditStore(store, signal);
    const isCurrent = state.version === STORE_VERSION && state.unfinished === undefined;
    if (isCurrent) {
      for (const { record, reason } of checkRecords(new CheckedStore(store))) findings.add(`${record}: ${reason}`);
    } else {
      for (const record of audit.damaged) findings.add(`${record}: its checksum does not match`);
    }
    const ledger = verifyLedgerOf(store, hasActorIndex(state.version, state.unfinished !== undefined));
    if (!ledger.ok) findings.add(ledgerText(ledger));
    findings.end();
    const records = Object.values(audit.tables).reduce((sum, table) => sum + table.records, 0);
    output.write(`${pages} pages in use, ${freePages} free, ${records} records, ${ledgerText(ledger)}\n`);
    if (!isCurrent)
      output.write('the indexes were not compared: "mon-backend upgrade" brings the store to this version\n');
    output.write(findings.count === 0 ? 'no findings\n' : `${counted(findings.count, 'finding')}\n`);
    return findings.count === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}

/** An absent file has no damaged pages; the missing store is reported later. */
function pagesOf(directory: string): ReturnType<typeof walkPages> {
  try {
    return walkPages(join(directory, DATA_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { pages: 0, freePages: 0, damaged: [] };
  }
}

class Findings {
  readonly #output: MaintenancePorts['output'];
  count = 0;

  constructor(output: MaintenancePorts['output']) {
    this.#output = output;
  }

  add(text: string): void {
    this.count += 1;
    if (this.count <= MAX_PRINTED) this.#output.write(`${text}\n`);
  }

  end(): void {
    if (this.count > MAX_PRINTED) this.#output.write(`and ${this.count - MAX_PRINTED} more\n`);
  }
}
