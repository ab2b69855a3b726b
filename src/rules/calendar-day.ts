export const DAY_MS = 86_400_000;

/** The midnight before or at a moment. Both count milliseconds from 1970 on a zone's own clock. */
export const startOfDayMs = (localMs: number): number => Math.floor(localMs / DAY_MS) * DAY_MS;
