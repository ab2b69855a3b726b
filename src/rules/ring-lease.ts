/** What an agent's keepalive says of its warning timeout when it says nothing, and the shortest lease. Seconds. */
const DEFAULT_LEASE_S = 120;
const MIN_LEASE_S = 5;

/** How long a keepalive keeps its agent in the rings of its subscriptions, ms. `warningTimeoutS` is the one it carries. Source: spec/01 6.5. */
export const ringLeaseMs = (warningTimeoutS: number): number =>
  Math.max(warningTimeoutS === 0 ? DEFAULT_LEASE_S : warningTimeoutS, MIN_LEASE_S) * 1_000;

/** The own subscription of an entity has no ring: there is nobody to take turns with. */
export const hasRing = (subscription: string): boolean => !subscription.startsWith('entity:');
