export interface KeepaliveAge {
  /** By the agent's clock, Unix seconds: of this keepalive, and of the newest one that was processed. */
  sentAtS: number;
  lastSeenS: number;
  /** Unix seconds. */
  nowS: number;
  /** Since the connection was opened that it came by. */
  connectedMs: number;
  /** After which a silent agent is missed. */
  timeoutMs: number;
}

/**
 * Whether a keepalive was generated before its agent was cut off and comes only now, with the next connection: it is older than
 * the last one by more than the timeout. After so long on one connection it is the agent's clock that was set back.
 * Source: spec/01 14.
 */
export function isStaleKeepalive({ sentAtS, lastSeenS, nowS, connectedMs, timeoutMs }: KeepaliveAge): boolean {
  return connectedMs < timeoutMs && (Math.min(lastSeenS, nowS) - sentAtS) * 1_000 > timeoutMs;
}
