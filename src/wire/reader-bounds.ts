import { InvalidResource } from '../resources/errors.ts';
import { MAX_MEMBER_NAMES, MAX_VALUES } from './message-bounds.ts';

/** The numbers of fields and of map entries that a message may have, at all levels. */
export interface ReaderBounds {
  readonly values: number;
  readonly names: number;
}

export const UNBOUNDED: ReaderBounds = { values: Infinity, names: Infinity };
/** The bounds of messages that peers send. */
export const RECEIVED: ReaderBounds = { values: MAX_VALUES, names: MAX_MEMBER_NAMES };

/** The error of a message that has more than `bound` of `what`. */
export const tooMany = (bound: number, what: string) =>
  new InvalidResource(`protobuf message must have at most ${bound} ${what}`);
