/** The inputs of the backend that decide what it must store. */
export interface Keepalive {
  agent: string;
  warningS: number;
  criticalS: number;
  deregister: boolean;
  subscriptions: readonly string[];
  handlers: readonly string[] | undefined;
  deregistrationHandler: string | undefined;
  /** As it is printed: the agent's own time. */
  sentS: number;
}

export interface Result {
  /** Who sent it, or the entity that a person names. */
  entity: string;
  entityClass: 'agent' | 'proxy';
  proxy: string | undefined;
  check: string;
  /** Of the entity, as it is sent. */
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
