export interface KeepaliveAge {
  /** The times of this keepalive and of the newest processed one, by the agent's clock, Unix seconds. */
  sentAtS: number;
  lastSeenS: number;
  /** Unix seconds. */
  nowS: number;
  /** Time since the agent connected. */
  connectedMs: number;
  /** Silence after which the agent counts as missing. */
  timeoutMs: number;
}

/**
 * Reports whether a keepalive was generated before its agent lost the connection and is only sent now: it is older than the last
 * one by more than the timeout. On a connection older than the timeout, the agent's clock was set back instead.
 * Source: spec/01 14.
 */
export function isStaleKeepalive({ sentAtS, lastSeenS, nowS, connectedMs, timeoutMs }: KeepaliveAge): boolean {
  return connectedMs < timeoutMs && (Math.min(lastSeenS, nowS) - sentAtS) * 1_000 > timeoutMs;
}
