import type { ApiClient } from './api-client.ts';
import { at } from './json-path.ts';
import { type Epoch, type RecordedStreak, ticksOf } from './schedule-oracle.ts';
import { SeededRandom } from './seeded-random.ts';

export interface LoadOptions {
  checks: number;
  intervalsS: readonly number[];
  seed: number;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const PUT_RETRY_MS = 100;

/** Checks that are edited while they run, and the history of their configurations. */
export class ScheduleLoad {
  edits = 0;
  readonly epochs = new Map<string, Epoch[]>();
  readonly #api: () => ApiClient;
  readonly #options: LoadOptions;
  readonly #random: SeededRandom;

  constructor(api: () => ApiClient, options: LoadOptions) {
    this.#api = api;
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
  }

  async create(): Promise<void> {
    for (let number = 0; number < this.#options.checks; number += 1) {
      const intervalS = this.#interval();
      await this.#change(`check-${number}`, { intervalS, publish: true });
    }
  }

  /** Changes one check: its interval, whether it is published, another field, or whether it exists. */
  async edit(): Promise<void> {
    const name = `check-${this.#random.below(this.#options.checks)}`;
    const { intervalS, publish } = this.#last(name);
    const kind = this.#random.below(5);
    this.edits += 1;
    if (intervalS === 0 || kind < 2) await this.#change(name, { intervalS: this.#interval(), publish });
    else if (kind === 2) await this.#change(name, { intervalS, publish: !publish });
    else if (kind === 3) await this.#change(name, { intervalS, publish });
    else await this.#change(name, { intervalS: 0, publish });
  }

  /** The recorded ticks of a check, also for one entity. */
  async ticks(name: string, entity = ''): Promise<Map<number, string>> {
    const streaks: RecordedStreak[] = [];
    let next = '';
    do {
      const query = `limit=1000${next === '' ? '' : `&continue=${next}`}${entity === '' ? '' : `&entity=${entity}`}`;
      const answer = await this.#api().get(`/api/mon/v1/namespaces/default/checks/${name}/ticks?${query}`);
      // A check that was deleted before its first tick has no record.
      if (answer.status === 404 && this.#last(name).intervalS === 0) break;
      if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${answer.text}`);
      streaks.push(...(at(answer.json, 'ticks') as RecordedStreak[]));
      next = String(answer.headers['sensu-continue'] ?? '');
    } while (next !== '');
    return ticksOf(streaks);
  }

  /** Ends the last epoch of each check. */
  end(atMs: number): void {
    for (const epochs of this.epochs.values()) {
      const last = epochs.at(-1);
      if (last !== undefined) last.untilMs = atMs;
    }
  }

  #interval(): number {
    const { intervalsS } = this.#options;
    return intervalsS[this.#random.below(intervalsS.length)] ?? 10;
  }

  #last(name: string): Epoch {
    const last = this.epochs.get(name)?.at(-1);
    if (last === undefined) throw new Error(`check ${name} was never created`);
    return last;
  }

  async #change(name: string, { intervalS, publish }: Pick<Epoch, 'intervalS' | 'publish'>): Promise<void> {
    const epochs = this.epochs.get(name) ?? [];
    this.epochs.set(name, epochs);
    const sentMs = Date.now();
    const last = epochs.at(-1);
    if (last !== undefined) last.untilMs = sentMs;
    const path = `/ns/default/checks/${name}`;
    const metadata = { name, namespace: 'default' };
    const command = `run ${this.edits}`;
    const check = { metadata, command, interval: intervalS, subscriptions: ['all'], publish, timeout: 5 };
    for (;;) {
      const answer = await (intervalS === 0 ? this.#api().delete(path) : this.#api().put(path, check)).catch(
        () => undefined,
      );
      if (answer !== undefined && answer.status < 300) break;
      if (answer !== undefined && intervalS === 0 && answer.status === 404) break;
      await sleep(PUT_RETRY_MS);
    }
    epochs.push({ fromMs: Date.now(), untilMs: Infinity, intervalS, publish });
  }
}
