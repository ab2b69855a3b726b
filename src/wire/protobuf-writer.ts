import protobuf from 'protobufjs/minimal.js';
import { InvalidResource } from '../resources/errors.ts';
import { isInt64 } from '../resources/int64.ts';
import { isUuid } from '../resources/names.ts';
import { type Field, type Message } from './protobuf-table.ts';

/** The largest int64, which JSON also reads back as 2^63. */
const MAX_INT64 = 9_223_372_036_854_775_807n;
const TWO_TO_THE_63 = 2 ** 63;
/** Longer texts are encoded faster by a native call than in JavaScript. */
const MAX_SHORT_TEXT = 1_000;
/** Lone surrogates cannot be encoded as UTF-8 and become U+FFFD. */
const SURROGATE = /[\ud800-\udfff]/;

/**
 * Writes fields in the order of their numbers, omitting zero values.
 * @throws InvalidResource for a value of another type than its field
 */
export function writeMessage<T extends object>(message: Message<T>, value: T): Buffer {
  const writer = protobuf.Writer.create();
  writeMembers(writer, message, value as Record<string, unknown>);
  const bytes = writer.finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function writeMembers(writer: protobuf.Writer, message: Message, members: Record<string, unknown>): void {
  for (const field of message.fields) {
    const value = members[field.name];
    if (value !== undefined && value !== null) writeField(writer, field, value);
    else if (field.isAlwaysWritten === true) writeNested(writer, field, {});
  }
}

function writeField(writer: protobuf.Writer, field: Field, value: unknown): void {
  switch (field.kind) {
    case 'text':
      if (value !== '') writeText(writer, field, value);
      break;
    case 'texts':
      for (const item of listOf(field, value)) writeText(writer, field, item);
      break;
    case 'flag':
      if (value !== false) writer.uint32(field.tag).bool(true);
      break;
    case 'uint32':
      if (value !== 0) writer.uint32(field.tag).uint32(numberOf(field, value));
      break;
    case 'int32':
      if (value !== 0) writer.uint32(field.tag).int32(numberOf(field, value));
      break;
    case 'int64':
      writeInt64(writer, field, Math.trunc(numberOf(field, value)));
      break;
    case 'exactInt64':
      writeExactInt64(writer, field, value);
      break;
    case 'double':
      if (value !== 0) writer.uint32(field.tag).double(numberOf(field, value));
      break;
    case 'uuid':
      writer.uint32(field.tag).bytes(uuidBytes(field, value));
      break;
    case 'message':
      writeNested(writer, field, value);
      break;
    case 'messages':
      for (const item of listOf(field, value)) writeNested(writer, field, field.adapter?.toWire(item) ?? item);
      break;
    case 'map':
      for (const [key, item] of Object.entries(membersOf(field, value))) writeEntry(writer, field, key, item);
      break;
  }
}

/** The bytes of frozen messages that peers repeat. They are frozen at every level, because events share them (`LastEntity`). */
const sharedBytes = new WeakMap<object, Buffer>();

function writeNested(writer: protobuf.Writer, field: Field, value: unknown): void {
  if (field.isRepeatedByPeers === true && Object.isFrozen(value)) writeShared(writer, field, membersOf(field, value));
  else writeOnce(writer, field, value);
}

function writeShared(writer: protobuf.Writer, field: Field, value: object): void {
  let bytes = sharedBytes.get(value);
  if (bytes === undefined) {
    bytes = writeMessage(field.message as Message<object>, value);
    sharedBytes.set(value, bytes);
  }
  writer.uint32(field.tag).bytes(bytes);
}

function writeOnce(writer: protobuf.Writer, field: Field, value: unknown): void {
  writer.uint32(field.tag).fork();
  writeMembers(writer, field.message as Message, membersOf(field, value));
  writer.ldelim();
}

/** Map entries always include key and value. */
function writeEntry(writer: protobuf.Writer, field: Field, key: string, value: unknown): void {
  writer.uint32(field.tag).fork();
  for (const half of (field.message as Message).fields) {
    if (half.name === 'key') writeText(writer, half, key);
    else if (half.kind === 'text') writeText(writer, half, value);
    else writeNested(writer, half, value);
  }
  writer.ldelim();
}

function writeText(writer: protobuf.Writer, field: Field, value: unknown): void {
  if (typeof value !== 'string') throw wrongType(field, 'a text');
  writer.uint32(field.tag);
  if (value.length > MAX_SHORT_TEXT || SURROGATE.test(value)) writer.bytes(Buffer.from(value));
  else writer.string(value);
}

/** Clamps to the int64 range. */
function writeInt64(writer: protobuf.Writer, field: Field, value: number): void {
  if (value === 0) return;
  writer.uint32(field.tag);
  if (value >= TWO_TO_THE_63) writer.int64(MAX_INT64.toString());
  else writer.int64(Math.max(value, -TWO_TO_THE_63));
}

function writeExactInt64(writer: protobuf.Writer, field: Field, value: unknown): void {
  if (!isInt64(value)) throw wrongType(field, 'a whole number of 64 bits');
  if (value !== 0) writer.uint32(field.tag).int64(typeof value === 'bigint' ? value.toString() : value);
}

function uuidBytes(field: Field, value: unknown): Buffer {
  if (typeof value !== 'string' || !isUuid(value)) throw wrongType(field, 'a UUID');
  return Buffer.from(value.replaceAll('-', ''), 'hex');
}

function numberOf(field: Field, value: unknown): number {
  if (typeof value !== 'number') throw wrongType(field, 'a number');
  return value;
}

function listOf(field: Field, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongType(field, 'a list');
  return value as unknown[];
}

function membersOf(field: Field, value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== 'object') throw wrongType(field, 'an object');
  return value as Record<string, unknown>;
}

const wrongType = (field: Field, type: string): InvalidResource => new InvalidResource(`${field.name} must be ${type}`);
