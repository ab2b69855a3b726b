import type { QueueStats } from '../ports/queue-stats.ts';
import { Fifo } from './fifo.ts';

/** Handlers that run at one time. */
const MAX_RUNNING = 100;
/** The same, of one handler: one that hangs leaves room for others. */
const MAX_RUNNING_OF_HANDLER = 25;

/** Who has turns: a handler of a namespace. */
export interface TurnTaker {
  namespace: string;
  handler: string;
}

interface Lane<W> {
  namespace: string;
  waiting: Fifo<W>;
  running: number;
}

/**
 * Who runs next: handlers take turns, and each has fewer runs at a time the fewer places are free, so that even several that hang
 * leave some for the others.
 */
export class Turns<W extends TurnTaker> {
  /** Those with something that waits or runs; whose turn was last is at the end. */
  readonly #lanes = new Map<string, Lane<W>>();
  #running = 0;

  get running(): QueueStats {
    return { used: this.#running, limit: MAX_RUNNING };
  }

  add(run: W): void {
    const id = laneOf(run);
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      lane = { namespace: run.namespace, waiting: new Fifo(), running: 0 };
      this.#lanes.set(id, lane);
    }
    lane.waiting.push(run);
  }

  /** What is to run now, if anything; it takes a place until it has `ended`. */
  begin(): W | undefined {
    for (const [id, lane] of this.#lanes) {
      if (lane.waiting.isEmpty || !this.#hasPlace(lane)) continue;
      this.#lanes.delete(id);
      this.#lanes.set(id, lane);
      lane.running += 1;
      this.#running += 1;
      return lane.waiting.shift();
    }
    return undefined;
  }

  ended(run: W): void {
    const id = laneOf(run);
    const lane = this.#lanes.get(id);
    if (lane === undefined) throw new Error(`nothing of ${id} runs`);
    lane.running -= 1;
    this.#running -= 1;
    this.#forgetIdle(id, lane);
  }

  /** What waits in a namespace; it waits no longer. */
  takeOf(namespace: string): W[] {
    const taken: W[] = [];
    for (const [id, lane] of this.#lanes) {
      if (lane.namespace !== namespace) continue;
      taken.push(...lane.waiting.drain());
      this.#forgetIdle(id, lane);
    }
    return taken;
  }

  /** The first run of a handler may have the last place, each further one only where twice as many are free. */
  #hasPlace({ running }: Lane<W>): boolean {
    return running < MAX_RUNNING_OF_HANDLER && 2 * running < MAX_RUNNING - this.#running;
  }

  #forgetIdle(id: string, { waiting, running }: Lane<W>): void {
    if (waiting.isEmpty && running === 0) this.#lanes.delete(id);
  }
}

const laneOf = ({ namespace, handler }: TurnTaker): string => `${namespace}/${handler}`;
