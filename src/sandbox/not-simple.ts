/** Thrown when the value of a simple expression depends on what only the engine of the sandbox does exactly. */
class NotSimple extends Error {}

/** One for all, because it is thrown often and its stack tells nothing. */
export const NOT_SIMPLE = new NotSimple('the engine decides');
