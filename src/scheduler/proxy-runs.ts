import type { SkippedTick } from '../machines/check-schedule.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { ExpectedError } from '../resources/errors.ts';
import type { Announcement, ProxyRunRequested } from '../store/commit/decision.ts';
import { entityKey } from '../store/encoding/keyspace.ts';
import { ExpressionPauses } from './expression-pauses.ts';
import type { Selection, SelectionRequest } from './entity-selection.ts';
import { type MadeRequest, RequestPacer } from './request-pacer.ts';

const MAX_RUNS = 1_000;
/** Runs of one namespace at the same time: the others are kept for other namespaces. */
const MAX_RUNS_OF_NAMESPACE = 900;
/** Requests of all runs that are planned and not made, and those of one namespace. */
const MAX_PLANNED = 1_000_000;
const MAX_PLANNED_OF_NAMESPACE = 900_000;
/** Scheduled runs of one check at the same time: a run may overlap with the run of the next tick only. */
const MAX_RUNS_OF_CHECK = 2;

/** The recipients of the request for an entity: one agent, or all subscribed agents if `agent` is undefined. */
export interface ProxyTarget {
  entity: string;
  agent: string | undefined;
}

export interface FanOut {
  targets: readonly ProxyTarget[];
  /** The time between two requests, ms. */
  gapMs: number;
  /** Whether there is also a gap before the first request. */
  waitsFirst: boolean;
}

export type Explanation = Pick<SkippedTick, 'reason' | 'detail'>;

export interface ProxyRunsPorts {
  /** Selects the entities for which all expressions hold. @throws Overloaded */
  select(request: SelectionRequest): Promise<Selection>;
  /** Plans the requests. @throws StoreUnavailable */
  plan(run: ProxyRunRequested, entities: readonly string[]): FanOut;
  /** Requests the check for one target. `error` is set when its tokens could not be substituted. @throws StoreUnavailable */
  request(run: ProxyRunRequested, target: ProxyTarget): MadeRequest & { error: string | undefined };
  /** Records why a run or the rest of it was skipped. @throws StoreUnavailable */
  explain(run: ProxyRunRequested, explanation: Explanation): void;
  clock: Clock;
  log: Log;
}

interface Run {
  requested: ProxyRunRequested;
  key: string;
  isCancelled: boolean;
  /** Requests that are planned and not made. */
  planned: number;
  /** Ends the current wait. */
  wake: () => void;
}

/** Runs of checks for many entities. Each run selects its entities in the sandbox, then requests the check for one entity after the other. */
export class ProxyRuns {
  readonly #ports: ProxyRunsPorts;
  readonly #runs = new Set<Run>();
  readonly #pauses: ExpressionPauses;
  readonly #pacer: RequestPacer;
  #refused = 0;

  constructor(ports: ProxyRunsPorts) {
    this.#ports = ports;
    this.#pauses = new ExpressionPauses(ports.clock);
    this.#pacer = new RequestPacer(ports.clock);
  }

  get running(): QueueStats {
    return { used: this.#runs.size, limit: MAX_RUNS, refused: this.#refused };
  }

  announced(announcement: Announcement): void {
    if (announcement.type === 'proxy-run.requested') this.#begin(announcement);
    else if (announcement.type === 'check.changed') {
      const changed = entityKey(announcement.namespace, announcement.name);
      this.#cancel((run) => run.key === changed);
      this.#pauses.delete(changed);
    }
  }

  /** Cancels all runs. The requests left are never made. */
  stop(): void {
    this.#cancel(() => true);
  }

  #begin(requested: ProxyRunRequested): void {
    const key = entityKey(requested.namespace, requested.check);
    if (this.#isFull(requested, key)) {
      this.#refused += 1;
      this.#explain(requested, { reason: 'earlier runs not over' });
      return;
    }
    const paused = this.#pauses.pauseOf(key);
    if (paused !== undefined) {
      this.#explain(requested, { reason: 'entity attributes failed', detail: paused }, 'debug');
      return;
    }
    const run: Run = { requested, key, isCancelled: false, planned: 0, wake: () => undefined };
    this.#runs.add(run);
    void this.#go(run).finally(() => this.#runs.delete(run));
  }

  #isFull({ namespace, adhoc }: ProxyRunRequested, key: string): boolean {
    const runs = [...this.#runs];
    const ofNamespace = runs.filter(({ requested }) => requested.namespace === namespace);
    if (runs.length >= MAX_RUNS || ofNamespace.length >= MAX_RUNS_OF_NAMESPACE) return true;
    return !adhoc && ofNamespace.filter((run) => run.key === key && !run.requested.adhoc).length >= MAX_RUNS_OF_CHECK;
  }

  /** Whether a run may plan further requests. A run may always plan when none waits, however many it has. */
  #fits({ requested: { namespace } }: Run, requests: number): boolean {
    let all = 0;
    let ofNamespace = 0;
    for (const { planned, requested } of this.#runs) {
      all += planned;
      if (requested.namespace === namespace) ofNamespace += planned;
    }
    const isOver = all + requests > MAX_PLANNED || ofNamespace + requests > MAX_PLANNED_OF_NAMESPACE;
    return ofNamespace === 0 || !isOver;
  }

  #cancel(matches: (run: Run) => boolean): void {
    for (const run of this.#runs) {
      if (!matches(run)) continue;
      run.isCancelled = true;
      run.wake();
    }
  }

  /** Does not reject. */
  async #go(run: Run): Promise<void> {
    const { requested } = run;
    try {
      const selection = await this.#select(run);
      if (selection === undefined) return;
      if (!run.isCancelled) this.#pauses.selected(run.key, selection);
      const { names, stopped, firstError } = selection;
      if (stopped !== undefined) this.#explain(requested, { reason: 'entity attributes failed', detail: stopped });
      if (run.isCancelled) this.#explain(requested, { reason: 'check changed' });
      else if (names.length > 0) await this.#fanOut(run, names);
      else if (stopped === undefined) this.#explain(requested, { reason: 'no matching entities', detail: firstError });
    } catch (err) {
      this.#ports.log.error({ ...named(requested), err }, 'check not published for its entities');
    }
  }

  async #select({ requested, key }: Run): Promise<Selection | undefined> {
    const { namespace, check, expressions } = requested;
    const leftOut = this.#pauses.leftOut(key);
    try {
      return await this.#ports.select({ owner: { namespace, name: check }, programs: expressions, leftOut });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#explain(requested, { reason: 'entity attributes failed', detail: error.message });
      return undefined;
    }
  }

  async #fanOut(run: Run, entities: readonly string[]): Promise<void> {
    const { clock, log, plan } = this.#ports;
    const { targets, gapMs, waitsFirst } = plan(run.requested, entities);
    if (!this.#fits(run, targets.length)) {
      this.#refused += 1;
      this.#explain(run.requested, { reason: 'earlier runs not over', detail: 'too many requests of runs wait' });
      return;
    }
    run.planned = targets.length;
    const startedAtMs = clock.monotonicMs();
    log.debug(
      { ...named(run.requested), requests: targets.length, gap_ms: gapMs },
      'requesting the check for its entities',
    );
    for (const [index, target] of targets.entries()) {
      const dueMs = startedAtMs + gapMs * (waitsFirst ? index + 1 : index);
      if (gapMs > 0) await this.#wait(run, dueMs - clock.monotonicMs());
      let isLeftOut = false;
      await this.#pacer.request(() => {
        run.planned -= 1;
        isLeftOut = run.isCancelled;
        return isLeftOut ? undefined : this.#request(run.requested, target);
      });
      if (isLeftOut) {
        this.#explain(run.requested, {
          reason: 'check changed',
          detail: `${targets.length - index} of ${targets.length} requests were left out`,
        });
        return;
      }
    }
  }

  #wait(run: Run, delayMs: number): Promise<void> {
    if (run.isCancelled || delayMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#ports.clock.after(delayMs, resolve);
      run.wake = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Makes one request. A request that fails does not stop the others. */
  #request(run: ProxyRunRequested, target: ProxyTarget): MadeRequest | undefined {
    const { log, request } = this.#ports;
    const fields = { ...named(run), entity: target.entity };
    try {
      const made = request(run, target);
      const { error } = made;
      if (error !== undefined) log.error({ ...fields, error }, 'could not substitute tokens for proxy entity');
      return made;
    } catch (err) {
      if (!(err instanceof ExpectedError)) throw err;
      log.warn({ ...fields, err }, 'check not published for an entity');
      return undefined;
    }
  }

  #explain(run: ProxyRunRequested, explanation: Explanation, level: 'debug' | 'warn' = 'warn'): void {
    const { log, explain } = this.#ports;
    log[level]({ ...named(run), ...explanation }, 'check will not be published for its entities');
    try {
      explain(run, explanation);
    } catch (err) {
      if (!(err instanceof ExpectedError)) throw err;
      log.warn({ ...named(run), err }, 'could not record why a check was not published');
    }
  }
}

const named = ({ namespace, check, adhoc }: ProxyRunRequested) => ({ namespace, check, adhoc });
