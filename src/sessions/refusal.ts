import type { IncomingHttpHeaders } from 'node:http';

/** An answer other than 101, as text. */
export interface Refusal {
  status: number;
  message: string;
  /** Whole seconds until it is worth to come again. */
  retryAfterS?: number;
}

export const isRefusal = (outcome: object): outcome is Refusal => 'status' in outcome;

/** As the agent claims it; nothing is judged here. */
export const agentNameOf = (headers: IncomingHttpHeaders): string =>
  String(headers['sensu-agentname'] ?? headers['mon-agentname'] ?? '');
