import { join } from 'node:path';
import { stateName } from '../../src/machines/actor-snapshot.ts';
import { verify } from '../../src/store/ledger/ledger-verification.ts';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { eventKey } from '../../src/store/encoding/keyspace.ts';
import { eventOf } from '../../src/store/records/records.ts';
import { ApiClient } from '../support/api-client.ts';
import { BackendProcess, initialiseState } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { AgentSender, HttpSender, numberIn, type Progress } from './load.ts';
import { readLedger } from '../support/read-ledger.ts';

const SENDERS = 4;
/** The longest time from the first acknowledged event to the kill. */
const LONGEST_ROUND_MS = 400;
const LOAD_WITHIN_MS = 15_000;
/** Sorts after every key. */
const END = '~';

/** The result of the rounds. There are no errors when nothing was lost. */
export interface CrashReport {
  rounds: number;
  acknowledged: number;
  errors: string[];
}

/**
 * Kills a real backend at random instants while events arrive over HTTP and from agents that wait for acknowledgements. After each
 * kill the store must contain every acknowledged event, actors in the states that the ledger has, and no false alerts.
 */
export async function crashRounds(rounds: number, random: () => number, httpSenders = SENDERS): Promise<CrashReport> {
  const directory = await temporaryDirectory();
  const stateDir = join(directory.path, 'state');
  const http = Array.from({ length: httpSenders }, (_, index) => new HttpSender(index));
  const agents = Array.from({ length: SENDERS }, (_, index) => new AgentSender(index));
  const errors: string[] = [];
  try {
    await initialiseState(stateDir);
    for (let round = 1; round <= rounds; round += 1) {
      const backend = await BackendProcess.start({ stateDir });
      const user = await ApiClient.login(backend.apiPort);
      const before = acknowledgedBy(http);
      const running = [
        ...http.map((sender) => sender.run(user)),
        ...agents.map((sender) => sender.run(backend.agentPort)),
      ];
      await eventually(() => acknowledgedBy(http) > before, Boolean, { what: 'the load', withinMs: LOAD_WITHIN_MS });
      await new Promise((resolve) => setTimeout(resolve, random() * LONGEST_ROUND_MS));
      await backend.kill();
      await backend.remove();
      await Promise.all(running);
      user.close();
      const found = await errorsIn(stateDir, [...http, ...agents]);
      errors.push(...found.map((error) => `round ${round}: ${error}`));
    }
    errors.push(...(await finish(stateDir, agents)));
  } finally {
    await directory.remove();
  }
  return { rounds, acknowledged: acknowledgedBy([...http, ...agents]), errors };
}

const acknowledgedBy = (senders: readonly Progress[]): number =>
  senders.reduce((sum, { acknowledged }) => sum + acknowledged, 0);

/** Returns the errors in the store of a killed backend. */
async function errorsIn(stateDir: string, senders: readonly Progress[]): Promise<string[]> {
  const store = new LmdbStore({ directory: join(stateDir, 'store'), sync: 'full', readOnly: true });
  try {
    return [...missingEvents(store, senders), ...misplacedActors(store), ...brokenLedger(store)];
  } finally {
    await store.close();
  }
}

function* missingEvents(store: LmdbStore, senders: readonly Progress[]): Iterable<string> {
  for (const { entity, check, sent, acknowledged } of senders) {
    const record = store.get('events', eventKey('default', entity, check));
    const stored = record === undefined ? 0 : numberIn(eventOf(record).check.output);
    if (stored < acknowledged || stored > sent) {
      yield `${entity}/${check}: ${acknowledged} acknowledged, ${sent} sent, but ${stored} is stored`;
    }
  }
}

function* misplacedActors(store: LmdbStore): Iterable<string> {
  const stateInLedger = (actor: string, key: string): string | null | undefined =>
    readLedger(store, { actor, key }).at(-1)?.to;
  for (const { key, value } of store.range('entities', { from: '', to: END })) {
    const to = stateInLedger('entity', key);
    const state = stateName(value.actor.value);
    if (to !== state) yield `entity ${key} is ${state}, the ledger says ${to}`;
  }
  for (const { key, value } of store.range('events', { from: '', to: END })) {
    const to = stateInLedger('check-state', key);
    if (to !== value.state.state) yield `check ${key} is ${value.state.state}, the ledger says ${to}`;
    const ttl = stateInLedger('check-ttl', key);
    const armed = value.ttl && stateName(value.ttl.value);
    if (armed !== undefined && ttl !== armed) yield `check TTL ${key} is ${armed}, the ledger says ${ttl}`;
  }
}

function* brokenLedger(store: LmdbStore): Iterable<string> {
  const result = verify(store.ledgerEntries());
  if (!result.ok) yield `ledger broken at ${result.seq}: ${result.reason}`;
  for (const { seq, entry } of store.ledgerEntries()) {
    if (entry instanceof Error || entry.event !== 'deadline.reached') continue;
    yield `entry ${seq}: ${entry.actor} ${entry.key} alerted though it was not silent`;
  }
}

/** Lets every agent deliver its queue after the last kill, and checks that each event was counted exactly once. */
async function finish(stateDir: string, agents: readonly AgentSender[]): Promise<string[]> {
  const errors: string[] = [];
  const backend = await BackendProcess.start({ stateDir });
  try {
    await Promise.all(agents.map((agent) => agent.run(backend.agentPort, agent.sent)));
    const api = await backend.login();
    for (const { entity, check, sent } of agents) {
      const event = (await api.event(entity, check)) as { check?: { occurrences?: number } } | undefined;
      const counted = event?.check?.occurrences ?? 0;
      if (counted !== sent) errors.push(`${entity}/${check}: ${sent} sent, ${counted} counted`);
    }
  } finally {
    await backend.stop();
  }
  return errors;
}
