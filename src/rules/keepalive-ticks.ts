/** The warning timeout of a keepalive that names no timeout. */
export const DEFAULT_WARNING_S = 120;
const MIN_TIMEOUT_S = 5;

export interface KeepaliveTimeouts {
  /** 0 = no warning stage. */
  warningMs: number;
  /** 0 = no critical stage. */
  criticalMs: number;
}

/** Returns the rule that the timeouts of a keepalive break, or undefined. All are in seconds; 0 turns a stage off. */
export function timeoutError(intervalS: number, warningS: number, criticalS: number): string | undefined {
  if (warningS > 0 && warningS < MIN_TIMEOUT_S) {
    return `bad timeout: ${warningS} is less than the minimum value of ${MIN_TIMEOUT_S}`;
  }
  if (criticalS > 0 && criticalS < MIN_TIMEOUT_S) {
    return `bad ttl: ${criticalS} is less than the minimum value of ${MIN_TIMEOUT_S}`;
  }
  if (criticalS > 0 && criticalS <= intervalS) return 'ttl must be greater than check interval';
  return undefined;
}

/** Returns the next time of an alert: each multiple of the warning timeout and once the critical one, or each multiple of the critical one without a warning stage. */
export function nextTickMs(elapsedMs: number, { warningMs, criticalMs }: KeepaliveTimeouts): number {
  const stepMs = warningMs > 0 ? warningMs : criticalMs;
  const multiple = (Math.floor(elapsedMs / stepMs) + 1) * stepMs;
  return criticalMs > elapsedMs ? Math.min(multiple, criticalMs) : multiple;
}
