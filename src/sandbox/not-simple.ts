/** Thrown when the value of a simple expression depends on what only the engine of the sandbox does exactly. */
class NotSimple extends Error {}

/** One shared instance, because it is thrown often and nobody reads its stack. */
export const NOT_SIMPLE = new NotSimple('the engine decides');
