import type { IncomingHttpHeaders } from 'node:http';

/** A text response to a refused handshake. */
export interface Refusal {
  status: number;
  message: string;
  /** Whole seconds until the agent should retry. */
  retryAfterS?: number;
}

export const isRefusal = (outcome: object): outcome is Refusal => 'status' in outcome;

/** The agent name as claimed in the headers, not validated. */
export const agentNameOf = (headers: IncomingHttpHeaders): string =>
  String(headers['sensu-agentname'] ?? headers['mon-agentname'] ?? '');
