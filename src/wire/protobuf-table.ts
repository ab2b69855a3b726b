import type { Int64 } from '../resources/int64.ts';

/** Encoding of a field. */
export type Kind =
  | 'text'
  | 'texts'
  | 'flag'
  | 'uint32'
  | 'int32'
  | 'int64'
  | 'exactInt64'
  | 'double'
  | 'uuid'
  | 'message'
  | 'messages'
  | 'map';

interface FieldShape {
  readonly number: number;
  readonly kind: Kind;
  /** For the kinds `message` and `messages`; for `map`, the message of an entry. */
  readonly message?: Message | undefined;
  /** Whether the message is written even when it is absent. */
  readonly isAlwaysWritten?: boolean | undefined;
  readonly adapter?: Adapter | undefined;
  /** Whether a peer usually sends the same bytes with each message. */
  readonly isRepeatedByPeers?: boolean | undefined;
}

/** A field with values of type `V`. `typeOf` exists only for type checking. */
export interface FieldOf<out V> extends FieldShape {
  readonly typeOf?: V;
}

/** Converts items between their wire form and their member form. */
interface Adapter {
  fromWire(item: unknown): unknown;
  toWire(item: unknown): unknown;
}

export interface Field extends FieldShape {
  readonly name: string;
  /** Field number and wire type, as written before each value. */
  readonly tag: number;
  /** Value of the member when the field is absent or zero. */
  readonly zero: unknown;
}

/** The fields of an object in its canonical form. */
export interface Message<out T = unknown> {
  /** A new object with the defaults of all fields. */
  blank(): T;
  /** Sorted by number, which is the order of writing. */
  readonly fields: readonly Field[];
  /** Indexed by tag. */
  readonly byTag: readonly (Field | undefined)[];
  readonly numbers: ReadonlySet<number>;
}

export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
export const FIXED32 = 5;

const WIRE_TYPES: Record<Kind, number> = {
  text: LENGTH,
  texts: LENGTH,
  flag: VARINT,
  uint32: VARINT,
  int32: VARINT,
  int64: VARINT,
  exactInt64: VARINT,
  double: FIXED64,
  uuid: LENGTH,
  message: LENGTH,
  messages: LENGTH,
  map: LENGTH,
};

const tagOf = ({ number, kind }: FieldShape): number => number * 8 + WIRE_TYPES[kind];

/** Gives all fields the same members in the same order, so that V8 reads them fast. */
const fieldOf = (name: string, field: FieldShape, zero: unknown): Field => ({
  number: field.number,
  kind: field.kind,
  message: field.message,
  isAlwaysWritten: field.isAlwaysWritten,
  adapter: field.adapter,
  isRepeatedByPeers: field.isRepeatedByPeers,
  name,
  tag: tagOf(field),
  zero,
});

/** The compiler requires a field for each member of `T`. */
export function message<T extends object>(
  blank: () => T,
  fieldsByName: { readonly [K in keyof T]-?: FieldOf<NonNullable<T[K]>> },
): Message<T> {
  const zeros = new Map(Object.entries(blank()));
  const fields = Object.entries<FieldShape>(fieldsByName)
    .map(([name, field]) => fieldOf(name, field, zeros.get(name)))
    .toSorted((one, other) => one.number - other.number);
  const byTag: (Field | undefined)[] = Array.from({ length: Math.max(...fields.map(({ tag }) => tag)) + 1 });
  for (const field of fields) byTag[field.tag] = field;
  return { blank, fields, byTag, numbers: new Set(fields.map(({ number }) => number)) };
}

export const text = (number: number): FieldOf<string> => ({ number, kind: 'text' });
export const texts = (number: number): FieldOf<string[]> => ({ number, kind: 'texts' });
export const flag = (number: number): FieldOf<boolean> => ({ number, kind: 'flag' });
export const uint32 = (number: number): FieldOf<number> => ({ number, kind: 'uint32' });
export const int32 = (number: number): FieldOf<number> => ({ number, kind: 'int32' });
export const int64 = (number: number): FieldOf<number> => ({ number, kind: 'int64' });
/** Keeps all 64 bits, while `int64` rounds to the nearest number. */
export const exactInt64 = (number: number): FieldOf<Int64> => ({ number, kind: 'exactInt64' });
export const double = (number: number): FieldOf<number> => ({ number, kind: 'double' });
/** Encoded as 16 bytes. */
export const uuid = (number: number): FieldOf<string> => ({ number, kind: 'uuid' });

export const nested = <T>(number: number, of: Message<T>): FieldOf<T> => ({ number, kind: 'message', message: of });
/** A message that a peer usually sends unchanged with each message. */
export const unchanging = <T>(number: number, of: Message<T>): FieldOf<T> => ({
  ...nested(number, of),
  isRepeatedByPeers: true,
});
/** A message that is written even when it is empty or absent, as agents require. */
export const always = <T>(number: number, of: Message<T>): FieldOf<NonNullable<T>> => ({
  number,
  kind: 'message',
  message: of,
  isAlwaysWritten: true,
});
export const list = <T>(number: number, of: Message<T>): FieldOf<T[]> => ({ number, kind: 'messages', message: of });

/** A list whose items differ between wire and member form. */
export function adaptedList<W, T>(
  number: number,
  of: Message<W>,
  fromWire: (item: W) => T,
  toWire: (item: T) => W,
): FieldOf<T[]> {
  return { number, kind: 'messages', message: of, adapter: { fromWire, toWire } };
}

const textEntry = message(() => ({ key: '', value: '' }), { key: text(1), value: text(2) });
export const textMap = (number: number): FieldOf<Record<string, string>> => ({
  number,
  kind: 'map',
  message: textEntry,
});

export function mapOf<T extends object>(number: number, of: Message<T>): FieldOf<Record<string, T>> {
  const entry = message(() => ({ key: '', value: of.blank() }), { key: text(1), value: always(2, of) });
  return { number, kind: 'map', message: entry };
}
