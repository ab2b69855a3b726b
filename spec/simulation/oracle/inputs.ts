/** A keepalive as the backend receives it. */
export interface Keepalive {
  agent: string;
  warningS: number;
  criticalS: number;
  deregister: boolean;
  subscriptions: readonly string[];
  handlers: readonly string[] | undefined;
  deregistrationHandler: string | undefined;
  /** The agent's own time, which appears in the output. */
  sentS: number;
}

export interface Result {
  /** The sending agent, or the entity of a request to the API. */
  entity: string;
  entityClass: 'agent' | 'proxy';
  proxy: string | undefined;
  check: string;
  /** Subscriptions of the sent entity. */
  subscriptions: readonly string[];
  checkSubscriptions: readonly string[];
  status: number;
  output: string;
  executedS: number;
  ttlS: number;
  alertStatus: number;
  lowFlap: number;
  highFlap: number;
  handlers: readonly string[];
}

/** The place of a numbered event in its agent's queue. */
export interface Numbered {
  queue: string;
  n: number;
}
