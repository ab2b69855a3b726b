/** Used when a keepalive names no timeout at all. */
export const DEFAULT_WARNING_S = 120;
const MIN_TIMEOUT_S = 5;

export interface KeepaliveTimeouts {
  /** 0 = no warning stage. */
  warningMs: number;
  /** 0 = no critical stage. */
  criticalMs: number;
}

/** The rule that a keepalive's timeouts break, or undefined. All in seconds; 0 turns a stage off. */
export function timeoutFault(intervalS: number, warningS: number, criticalS: number): string | undefined {
  if (warningS > 0 && warningS < MIN_TIMEOUT_S) {
    return `bad timeout: ${warningS} is less than the minimum value of ${MIN_TIMEOUT_S}`;
  }
  if (criticalS > 0 && criticalS < MIN_TIMEOUT_S) {
    return `bad ttl: ${criticalS} is less than the minimum value of ${MIN_TIMEOUT_S}`;
  }
  if (criticalS > 0 && criticalS <= intervalS) return 'ttl must be greater than check interval';
  return undefined;
}

/** Alerts are due at every multiple of the warning timeout and once at the critical one; without a warning stage at every multiple of that. */
export function nextTickMs(elapsedMs: number, { warningMs, criticalMs }: KeepaliveTimeouts): number {
  const stepMs = warningMs > 0 ? warningMs : criticalMs;
  const multiple = (Math.floor(elapsedMs / stepMs) + 1) * stepMs;
  return criticalMs > elapsedMs ? Math.min(multiple, criticalMs) : multiple;
}
