/**
 * Values of one message or request body: fields, items of lists and members of objects, at all levels. Parsing, validating
 * and merging the most expensive ones takes less than 100 ms.
 */
export const MAX_VALUES = 100_000;

/** Different names of members in a JSON text, or entries of maps in protobuf. V8 needs about 2 µs for a new name. */
export const MAX_MEMBER_NAMES = 10_000;
