/**
 * Descriptors that connections never use: those of the store, the logs and the threads, about 60, and those of 100
 * running handlers with two or three each.
 */
const KEPT_BACK = 384;
/** The part of the descriptors that is kept back when that is less than `KEPT_BACK`. */
const KEPT_BACK_PART = 1 / 2;
const API_PART = 1 / 4;
const LARGEST_API_PART = 3 / 4;
const MAX_API_CONNECTIONS = 10_000;

/** How many connections each port accepts, so that descriptors are left for the store and for handlers. */
export interface DescriptorBudget {
  apiConnections: number;
  agentConnections: number;
}

/**
 * Divides the descriptors of the process. `wanted` is the configured number of API connections; fewer are granted when
 * the agent port would get less than a quarter of what both share.
 */
export function descriptorBudget(descriptors: number, wanted: number | undefined): DescriptorBudget {
  const shared = descriptors - Math.min(KEPT_BACK, Math.ceil(descriptors * KEPT_BACK_PART));
  const usual = Math.min(MAX_API_CONNECTIONS, Math.floor(shared * API_PART));
  const apiConnections = Math.max(1, Math.min(wanted ?? usual, Math.floor(shared * LARGEST_API_PART)));
  return { apiConnections, agentConnections: Math.max(1, shared - apiConnections) };
}
