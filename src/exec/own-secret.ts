const OWN_SECRET = /^MON_(?:\w+_)?(?:PASSWORD|API_KEY)$/;

/** Whether an environment variable contains credentials of our programs. */
export const isOwnSecret = (variable: string): boolean => OWN_SECRET.test(variable);
