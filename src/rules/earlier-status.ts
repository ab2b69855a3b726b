/** Statuses of the first generation are signed. They are stored as the same 32 bits without a sign: -1 as 4,294,967,295. */
export const toStoredStatus = (status: number): number => status >>> 0;

/** Returns a stored status as the first generation shows it. */
export const toEarlierStatus = (status: number): number => status | 0;
