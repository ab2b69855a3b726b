/** The warning timeout of a keepalive that names none, and the shortest lease, in seconds. */
const DEFAULT_LEASE_S = 120;
const MIN_LEASE_S = 5;

/** Returns for how many milliseconds a keepalive keeps its agent in the rings of its subscriptions. Source: spec/01 6.5. */
export const ringLeaseMs = (warningTimeoutS: number): number =>
  Math.max(warningTimeoutS === 0 ? DEFAULT_LEASE_S : warningTimeoutS, MIN_LEASE_S) * 1_000;

/** The subscription of a single entity has no ring. */
export const hasRing = (subscription: string): boolean => !subscription.startsWith('entity:');
