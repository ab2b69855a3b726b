import { ActorSystem } from '../../src/actors/system.ts';
import { type CheckInput, checkWithDefaults } from '../../src/resources/check.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { emptyPuts } from '../../src/store/commit/decision.ts';
import { EventStore } from '../../src/store/event-store.ts';
import { IncidentStore } from '../../src/store/incident-store.ts';
import { resourceKey } from '../../src/store/encoding/keyspace.ts';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { proxyEvent } from './example-events.ts';
import { FailingStore } from './failing-store.ts';
import { ManualClock } from './manual-clock.ts';
import { ProcessClock } from './process-clock.ts';
import { RecordedLog } from './recorded-log.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

const USER = 'admin';
const START_MS = 1_700_000_000_000;

/** The actors of a backend without sockets, on a manual clock and a real store. */
export class StoredSystem {
  readonly clock = new ManualClock(START_MS);
  readonly #directory: TemporaryDirectory;
  #process: ProcessClock | undefined;
  #store: FailingStore | undefined;
  #system: ActorSystem | undefined;

  private constructor(directory: TemporaryDirectory) {
    this.#directory = directory;
  }

  static async start(...namespaces: string[]): Promise<StoredSystem> {
    const started = new StoredSystem(await temporaryDirectory());
    await started.begin();
    const puts = emptyPuts();
    for (const name of ['default', ...namespaces])
      puts.resources.set(resourceKey('namespaces', undefined, name), { name });
    await started.store.write({ puts, ledger: [] });
    return started;
  }

  async begin(): Promise<void> {
    this.#store = new FailingStore(new LmdbStore({ directory: this.#directory.path, sync: 'none' }));
    this.#process = new ProcessClock(this.clock);
    this.clock.untilIdle = () => this.#store?.settled() ?? Promise.resolve();
    this.#system = new ActorSystem({
      store: this.#store,
      clock: this.#process,
      log: new RecordedLog(),
      backendName: 'own',
    });
    await this.#system.start();
  }

  async halt(): Promise<void> {
    await this.#system?.stop();
    this.#process?.stop();
    await this.#store?.close();
    this.#system = undefined;
  }

  async restart(): Promise<void> {
    await this.halt();
    await this.begin();
  }

  async stop(): Promise<void> {
    await this.halt();
    await this.#directory.remove();
  }

  get system(): ActorSystem {
    if (this.#system === undefined) throw new Error('the system is down');
    return this.#system;
  }

  get store(): FailingStore {
    if (this.#store === undefined) throw new Error('the system is down');
    return this.#store;
  }

  get nowS(): number {
    return Math.floor(this.clock.nowMs() / 1_000);
  }

  get events(): EventStore {
    return new EventStore(this.store);
  }

  get incidents(): IncidentStore {
    return new IncidentStore(this.store);
  }

  /** Puts the result of a proxy entity, executed now. Resolves when it is durable. */
  async result(entity: string, check: string, result: object = {}, namespace = 'default'): Promise<void> {
    const { nowS } = this;
    const event = proxyEvent(entity, check, { executed: nowS, issued: nowS, ...result });
    const named = (name: string) => ({ name, namespace });
    const sent = {
      ...event,
      timestamp: nowS,
      entity: { entity_class: 'proxy', metadata: named(entity) },
      check: { ...(event['check'] as object), metadata: named(check) },
    };
    await this.system.commands.putEvent(parseEvent(sent), USER);
  }

  /** Stores a check. */
  async check(
    name: string,
    input: Omit<CheckInput, 'metadata'>,
    annotations: Record<string, string> = {},
  ): Promise<void> {
    const metadata = { name, namespace: 'default', annotations };
    const check = checkWithDefaults({ command: 'true', interval: 60, subscriptions: ['none'], ...input, metadata });
    await this.system.commands.putResource('checks', check, USER);
  }
}
