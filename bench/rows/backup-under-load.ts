import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchedBackend, withBackend } from '../support/benched-backend.ts';
import { HERE, programOf } from '../support/checkout.ts';
import { median, type Row } from '../support/measured.ts';
import { KEYS, putEvents } from './rest-put.ts';
import { STORED_ENTITIES, withSeededState } from './stored-state.ts';

const ROUNDS = 5;
/** The share by which a backup may raise the latency. */
const MAX_RISE = 1.2;

/** Backs the store up again and again until `signal` is aborted, which ends the backup that is being made. @throws Error if one fails */
async function repeatBackups(stateDir: string, signal: AbortSignal): Promise<void> {
  const file = join(stateDir, 'copy.mdb');
  while (!signal.aborted) {
    rmSync(file, { force: true });
    const child = spawn(programOf(HERE, 'mon-backend'), ['backup', file, '--state-dir', stateDir], { stdio: 'ignore' });
    const end = (): boolean => child.kill();
    signal.addEventListener('abort', end);
    const [code] = (await once(child, 'exit')) as [number | null];
    signal.removeEventListener('abort', end);
    if (code !== 0 && !signal.aborted) throw new Error(`the backup ended with exit code ${code}`);
  }
}

async function duringBackups<T>(stateDir: string, measure: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const measured = measure().finally(() => {
    over.abort();
  });
  const [result] = await Promise.all([measured, repeatBackups(stateDir, over.signal)]);
  return result;
}

async function latencyMs(backend: BenchedBackend): Promise<number> {
  return (await putEvents(backend, { keys: KEYS, ttl: 0 })).p99Ms;
}

/** The p99 of durable PUTs while the store of 50,000 entities and 100,000 events is backed up; the limit is the p99 without a backup. */
export function backupUnderLoad(): Promise<Row[]> {
  return withSeededState(STORED_ENTITIES, (stateDir) =>
    withBackend(
      async (backend) => {
        const [without, during]: [number[], number[]] = [[], []];
        for (let round = 0; round < ROUNDS; round += 1) {
          without.push(await latencyMs(backend));
          during.push(await duringBackups(stateDir, () => latencyMs(backend)));
        }
        const rawLimit = median(without);
        return [
          {
            id: 'backup',
            what: 'REST PUT while 50,000 entities and 100,000 events are backed up, p99; limit: the same without a backup',
            unit: 'ms',
            value: median(during),
            rawLimit,
            floor: rawLimit * MAX_RISE,
            isCost: true,
            isFixed: true,
          },
        ];
      },
      { stateDir },
    ),
  );
}
