import type { Entity } from '../resources/entity.ts';
import { InvalidResource } from '../resources/errors.ts';
import type { Int64 } from '../resources/int64.ts';
import type { LastEntity, ReadEntity } from './last-entity.ts';
import { type Field, FIXED32, FIXED64, LENGTH, type Message, VARINT } from './protobuf-table.ts';
import { type ReaderBounds, tooMany, UNBOUNDED } from './reader-bounds.ts';
import { textOf } from './text-bytes.ts';
import { UUID_BYTES, uuidOf } from './uuid-text.ts';

type Members = Record<string, unknown>;

const MAX_VARINT_BYTES = 10;
const TWO_TO_THE_32 = 4_294_967_296;
/** The bytes are not a message of the schema, as opposed to a message that breaks a rule. */
export class MalformedProtobuf extends InvalidResource {}

const malformed = (what: string) => new MalformedProtobuf(`payload is not a protobuf message: ${what}`);

/** The cost, in fields, of a list item whose JSON members differ from its protobuf fields. */
const ADAPTED_ITEM_VALUES = 10;

/** Reads one message into the canonical form of its resource, in one pass. It keeps no reference to `bytes`. */
export class ProtobufReader {
  readonly #bytes: Buffer;
  readonly #bounds: ReaderBounds;
  readonly #last: LastEntity | undefined;
  #readEntity: ReadEntity | undefined;
  #values = 0;
  #names = 0;
  #position = 0;
  /** End of the innermost message, which no field may exceed. */
  #end: number;
  /** Low and high 32 bits of the last varint. */
  #low = 0;
  #high = 0;

  constructor(bytes: Buffer, bounds: ReaderBounds = UNBOUNDED, last?: LastEntity) {
    this.#bytes = bytes;
    this.#bounds = bounds;
    this.#last = last;
    this.#end = bytes.length;
  }

  /** The entity that was read, unless it is the last one or came in several parts. */
  get readEntity(): ReadEntity | undefined {
    return this.#readEntity;
  }

  /** @throws InvalidResource */
  read<T extends object>(message: Message<T>): T {
    const target = message.blank();
    this.#readInto(message, target as Members);
    return target;
  }

  #readInto(message: Message, target: Members): void {
    while (this.#position < this.#end) {
      const tag = this.#tag();
      const field = message.byTag[tag];
      this.#values += 1;
      if (this.#values > this.#bounds.values) throw tooMany(this.#bounds.values, 'fields');
      if (field === undefined) this.#skip(message, tag);
      else this.#readField(field, target);
    }
  }

  #readField(field: Field, target: Members): void {
    const { name } = field;
    switch (field.kind) {
      case 'text':
        target[name] = this.#text() || field.zero;
        break;
      case 'texts':
        append(target, name, this.#text());
        break;
      case 'uint32':
        this.#varint();
        target[name] = this.#low >>> 0 || field.zero;
        break;
      case 'int64':
        this.#varint();
        target[name] = this.#nearest() || field.zero;
        break;
      case 'flag':
        this.#varint();
        target[name] = (this.#low | this.#high) !== 0 || field.zero;
        break;
      case 'message':
        if (field.isRepeatedByPeers === true && this.#last !== undefined) this.#entity(field, target, this.#last);
        else this.#merge(field, target);
        break;
      case 'messages':
        this.#item(field, target);
        break;
      case 'map':
        this.#entry(field, target);
        break;
      case 'double':
        target[name] = this.#double();
        break;
      case 'uuid':
        target[name] = this.#uuid() ?? field.zero;
        break;
      case 'exactInt64':
        this.#varint();
        target[name] = this.#exact() || field.zero;
        break;
      case 'int32':
        this.#varint();
        target[name] = this.#low | 0 || field.zero;
        break;
    }
  }

  /** Repeated occurrences of a message are merged. */
  #merge(field: Field, target: Members): unknown {
    const member = (target[field.name] ??= messageOf(field).blank());
    this.#nested(messageOf(field), member as Members);
    return member;
  }

  #entity(field: Field, target: Members, last: LastEntity): void {
    const { name } = field;
    if (target[name] !== undefined) {
      // The next part must not change the last entity, which is frozen because other events share it. Its copy is not.
      if (Object.isFrozen(target[name])) target[name] = structuredClone(target[name]);
      this.#readEntity = undefined;
      this.#merge(field, target);
      return;
    }
    const lengthAt = this.#position;
    const end = this.#length();
    const bytes = this.#bytes.subarray(this.#position, end);
    const known = last.find(bytes);
    if (known !== undefined) {
      target[name] = known.entity;
      this.#position = end;
      this.#count(known);
      return;
    }
    this.#position = lengthAt;
    const [values, names] = [this.#values, this.#names];
    const entity = this.#merge(field, target) as Entity;
    this.#readEntity = { bytes, entity, values: this.#values - values, names: this.#names - names };
  }

  /** Counts what was not read again. */
  #count({ values, names }: ReadEntity): void {
    this.#values += values;
    this.#names += names;
    if (this.#values > this.#bounds.values) throw tooMany(this.#bounds.values, 'fields');
    if (this.#names > this.#bounds.names) throw tooMany(this.#bounds.names, 'entries of maps');
  }

  #nested(message: Message, target: Members): void {
    const outerEnd = this.#end;
    this.#end = this.#length();
    this.#readInto(message, target);
    this.#end = outerEnd;
  }

  #item(field: Field, target: Members): void {
    if (field.adapter !== undefined) this.#values += ADAPTED_ITEM_VALUES;
    const item = messageOf(field).blank();
    this.#nested(messageOf(field), item as Members);
    append(target, field.name, field.adapter === undefined ? item : field.adapter.fromWire(item));
  }

  /** The last entry of a key wins. `__proto__` is an ordinary key. */
  #entry(field: Field, target: Members): void {
    this.#names += 1;
    if (this.#names > this.#bounds.names) throw tooMany(this.#bounds.names, 'entries of maps');
    const entry = messageOf(field).blank() as { key: string; value: unknown };
    this.#nested(messageOf(field), entry);
    const map = (target[field.name] ??= {}) as Members;
    if (entry.key === '__proto__') {
      Object.defineProperty(map, entry.key, {
        value: entry.value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    } else {
      map[entry.key] = entry.value;
    }
  }

  #skip(message: Message, tag: number): void {
    const number = tag >>> 3;
    if (number === 0) throw malformed('field number 0');
    if (message.numbers.has(number)) throw malformed(`field ${number} has the wrong wire type`);
    switch (tag & 7) {
      case VARINT:
        this.#varint();
        break;
      case FIXED64:
        this.#advance(8);
        break;
      case LENGTH:
        this.#position = this.#length();
        break;
      case FIXED32:
        this.#advance(4);
        break;
      default:
        throw malformed(`field ${number} has an unsupported wire type`);
    }
  }

  #tag(): number {
    const first = this.#bytes[this.#position] as number;
    if (first < 0x80 && this.#position < this.#end) {
      this.#position += 1;
      return first;
    }
    this.#varint();
    if (this.#high !== 0) throw malformed('a field number is too large');
    return this.#low >>> 0;
  }

  /** Reads a varint into `#low` and `#high`. */
  #varint(): void {
    const first = this.#byte();
    this.#low = first & 0x7f;
    this.#high = 0;
    if (first < 0x80) return;
    for (let index = 1; index < MAX_VARINT_BYTES; index += 1) {
      const byte = this.#byte();
      const bits = byte & 0x7f;
      // Shift counts are modulo 32, so the byte that spans both halves is split explicitly.
      if (index < 5) this.#low |= bits << (7 * index);
      if (index === 4) this.#high = bits >> 4;
      else if (index > 4) this.#high |= bits << (7 * index - 32);
      if (byte < 0x80) return;
    }
    throw malformed('a varint is longer than ten bytes');
  }

  /** The last varint as the nearest number to its signed 64-bit value. */
  #nearest(): number {
    return this.#high * TWO_TO_THE_32 + (this.#low >>> 0);
  }

  #exact(): Int64 {
    const nearest = this.#nearest();
    return Number.isSafeInteger(nearest) ? nearest : (BigInt(this.#high) << 32n) + BigInt(this.#low >>> 0);
  }

  #byte(): number {
    if (this.#position >= this.#end) throw malformed('unexpected end of the message');
    return this.#bytes[this.#position++] as number;
  }

  /** Reads a length and returns the end of the field. */
  #length(): number {
    this.#varint();
    const length = this.#low >>> 0;
    const end = this.#position + length;
    if (this.#high !== 0 || end > this.#end) throw malformed('a length exceeds the message');
    return end;
  }

  #advance(count: number): number {
    const start = this.#position;
    if (start + count > this.#end) throw malformed('unexpected end of the message');
    this.#position = start + count;
    return start;
  }

  #double(): number {
    return this.#bytes.readDoubleLE(this.#advance(8));
  }

  #text(): string {
    const end = this.#length();
    const start = this.#position;
    this.#position = end;
    return textOf(this.#bytes, start, end);
  }

  #uuid(): string | undefined {
    const end = this.#length();
    const start = this.#position;
    if (end === start) return undefined;
    if (end - start !== UUID_BYTES) throw malformed('an id is not 16 bytes long');
    this.#position = end;
    return uuidOf(this.#bytes, start);
  }
}

function append(target: Members, name: string, item: unknown): void {
  const list = target[name] as unknown[] | null | undefined;
  if (list) list.push(item);
  else target[name] = [item];
}

function messageOf(field: Field): Message {
  if (field.message === undefined) throw new TypeError(`field ${field.name} has no message`);
  return field.message;
}
