import { InvalidResource } from '../../resources/errors.ts';

/** A place in what a backend has told its inspectors: after this ledger entry, and the how manieth message of the process. */
export interface Position {
  seq: number;
  n: number;
}

/** What a reader says it has: up to a ledger entry, or up to a message of ours. */
export interface Since {
  seq: number;
  n: number | undefined;
}

const SINCE = /^(\d{1,15})(?:\.(\d{1,15}))?$/;

export const positionText = ({ seq, n }: Position): string => `${seq}.${n}`;

export const isBefore = (one: Position, other: Position): boolean =>
  one.seq < other.seq || (one.seq === other.seq && one.n < other.n);

/** A number of a ledger entry, or the `seq` of a message. @throws InvalidResource */
export function parseSince(text: string): Since {
  const [, seq, n] = SINCE.exec(text) ?? [];
  if (seq === undefined) {
    throw new InvalidResource(`since must be the number of a ledger entry or the seq of a message: "${text}"`);
  }
  return { seq: Number(seq), n: n === undefined ? undefined : Number(n) };
}
