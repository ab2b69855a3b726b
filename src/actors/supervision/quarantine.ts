import type { ActorKind } from '../core/actor-kind.ts';

/** So many failures within the window and the actor is left alone. */
const MAX_FAILURES = 5;
const WINDOW_MS = 60_000;
const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 3_600_000;

interface Patient {
  kind: ActorKind;
  key: string;
  failuresAtMs: number[];
  /** Times it was quarantined in a row; each waits twice as long, up to an hour. */
  attempts: number;
  quarantined: boolean;
  releasedAtMs: number;
}

/** Which actors fail too often to be trusted with their events. */
export class Quarantine {
  readonly #patients = new Map<string, Patient>();

  has(kind: ActorKind, key: string): boolean {
    return this.#patients.size > 0 && this.#patients.get(`${kind}/${key}`)?.quarantined === true;
  }

  /** Counts a failure. Returns how long to wait before the next try when the actor is now quarantined. */
  failed(kind: ActorKind, key: string, atMs: number): number | undefined {
    const id = `${kind}/${key}`;
    const patient = this.#patients.get(id) ?? {
      kind,
      key,
      failuresAtMs: [],
      attempts: 0,
      quarantined: false,
      releasedAtMs: 0,
    };
    this.#patients.set(id, patient);
    patient.failuresAtMs = [...patient.failuresAtMs.filter((failedAtMs) => atMs - failedAtMs < WINDOW_MS), atMs];
    const onProbation = patient.attempts > 0;
    if (patient.quarantined || (!onProbation && patient.failuresAtMs.length < MAX_FAILURES)) return undefined;
    patient.quarantined = true;
    patient.attempts += 1;
    return Math.min(FIRST_RETRY_MS * 2 ** (patient.attempts - 1), MAX_RETRY_MS);
  }

  /** Lets the actor run again; its next failure sends it back at once. False when it was not quarantined. */
  release(kind: ActorKind, key: string, atMs: number): boolean {
    const patient = this.#patients.get(`${kind}/${key}`);
    if (patient?.quarantined !== true) return false;
    patient.quarantined = false;
    patient.releasedAtMs = atMs;
    return true;
  }

  /** Forgets released actors that have been sound for the window. */
  forgetHealthy(atMs: number): void {
    for (const [id, { quarantined, failuresAtMs, releasedAtMs }] of this.#patients) {
      const soundSinceMs = Math.max(releasedAtMs, failuresAtMs.at(-1) ?? 0);
      if (!quarantined && atMs - soundSinceMs >= WINDOW_MS) this.#patients.delete(id);
    }
  }

  /** `<kind>/<key>` of every quarantined actor. */
  get quarantined(): string[] {
    return [...this.#patients].filter(([, patient]) => patient.quarantined).map(([id]) => id);
  }
}
