import { InvalidResource } from '../../resources/errors.ts';

/** A position in the messages of a backend: the number of the last ledger entry and the number of the message in this process. */
export interface Position {
  seq: number;
  n: number;
}

/** The last position that a reader received: a ledger entry, or a message of this process. */
export interface Since {
  seq: number;
  n: number | undefined;
}

const SINCE = /^(\d{1,15})(?:\.(\d{1,15}))?$/;

export const positionText = ({ seq, n }: Position): string => `${seq}.${n}`;

export const isBefore = (one: Position, other: Position): boolean =>
  one.seq < other.seq || (one.seq === other.seq && one.n < other.n);

/** Parses the number of a ledger entry or the `seq` of a message. @throws InvalidResource */
export function parseSince(text: string): Since {
  const [, seq, n] = SINCE.exec(text) ?? [];
  if (seq === undefined) {
    throw new InvalidResource(`since must be the number of a ledger entry or the seq of a message: "${text}"`);
  }
  return { seq: Number(seq), n: n === undefined ? undefined : Number(n) };
}
