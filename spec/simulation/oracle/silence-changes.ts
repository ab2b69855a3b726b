import type { Clock } from '../../../src/ports/clock.ts';
import type { Changes } from './changes.ts';
import { type ExpectedSilence, isOver, nameOf } from './silences.ts';

/** An entry as written by a user. */
export type SilenceInput = Omit<ExpectedSilence, 'state' | 'beginS'> & {
  /** 0 = now. */
  beginS: number;
  /** Seconds from the start to the end if `expireAtS` is 0; 0 = no end. */
  expireS: number;
};

/** Changes of silences by users. `silence-timing.ts` checks the recorded starts and ends. */
export class SilenceChanges {
  readonly #changes: Changes;
  readonly #clock: Clock;

  constructor(changes: Changes, clock: Clock) {
    this.#changes = changes;
    this.#clock = clock;
  }

  get #nowS(): number {
    return Math.floor(this.#clock.nowMs() / 1_000);
  }

  /** Whether a silence of that name exists and has not expired. */
  has(name: string): boolean {
    const known = this.#changes.head.silences.get(name);
    return known !== undefined && !isOver(known, this.#nowS);
  }

  put({ expireS, ...input }: SilenceInput): void {
    const name = nameOf(input);
    const isNew = !this.has(name);
    const over = isNew ? this.#changes.head.silences.get(name) : undefined;
    if (over !== undefined) this.#changes.silenceWasOver(name, over);
    const beginS = input.beginS === 0 ? this.#nowS : input.beginS;
    const expireAtS = input.expireAtS === 0 && expireS > 0 ? beginS + expireS : input.expireAtS;
    const state = beginS <= this.#nowS ? 'active' : 'pending';
    this.#changes.setSilence(name, { ...input, beginS, expireAtS, state });
    this.#changes.silenceTransition(name, isNew ? 'silence.created' : 'silence.updated', state);
    this.#changes.transition('silenced', `default/${name}`, isNew ? null : 'stored', 'stored');
  }

  /** Returns false if the silence does not exist or has expired. */
  delete(name: string): boolean {
    if (!this.has(name)) return false;
    this.#changes.endSilence(name, 'silence.deleted');
    this.#changes.transition('silenced', `default/${name}`, 'stored', null);
    return true;
  }

  /** Section 7.6: silences on an entity's own subscription end with the entity. */
  endOfEntity(entity: string, event: 'entity.deleted' | 'entity.deregistered'): void {
    for (const [name, silence] of this.#changes.head.silences) {
      if (silence.subscription !== `entity:${entity}`) continue;
      if (isOver(silence, this.#nowS)) this.#changes.silenceWasOver(name, silence);
      else this.#changes.endSilence(name, event);
    }
  }
}
