/** Values that the ledger keeps with a transition, besides the guards. */
export type TransitionDetails = Readonly<Record<string, unknown>>;

/** A transition of an actor, as a decision records it. */
export interface Transition {
  from: string | null;
  event: string;
  to: string;
  details: TransitionDetails | undefined;
}
