import { parseEvent } from '../../src/resources/event.ts';
import { encodeEvent } from '../../src/wire/protobuf-codec.ts';
import { agentEvent } from './agent-events.ts';

export type Encoding = 'json' | 'protobuf';

/** The numbers from here on have ten digits, so that one can overwrite another. */
export const FIRST_NUMBER = 1_000_000_000;
const NUMBER_AT = 'event '.length;
const NUMBER_DIGITS = 10;

/** Values that occur nowhere else in an event. */
const MARKED = { status: 7, executed: 1_912_345_678 };
const MARKED_ID = '9d3c5e7a-1f2b-4c8d-a6e0-5b4f3a2c1d0e';

/** Five bytes, as all Unix seconds from 2^28 to 2^35 take. */
function writeVarint(bytes: Buffer, at: number, value: number): void {
  for (let index = 0; index < 4; index += 1) {
    bytes[at + index] = (Math.floor(value / 128 ** index) & 0x7f) | 0x80;
  }
  bytes[at + 4] = Math.floor(value / 128 ** 4);
}

function varint(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  writeVarint(bytes, 0, value);
  return bytes;
}

/** Field 28 of the check; its tag takes two bytes. */
const STATUS_TAG = [0xe0, 0x01];

/** @throws Error unless `bytes` contains `what` exactly once */
function placeOf(what: Buffer, bytes: Buffer): number {
  const at = bytes.indexOf(what);
  if (at < 0 || bytes.includes(what, at + 1)) throw new Error(`${what.toString('hex')} must be in an event once`);
  return at;
}

/**
 * A numbered event as bytes, encoded once and patched before each send, so that encoding is not measured. It must have left
 * the process before it is patched again.
 */
export class EventFrame {
  readonly bytes: Buffer;
  readonly #encoding: Encoding;
  readonly #statusAt: number;
  readonly #executedAt: number;
  readonly #idAt: number;

  constructor(agent: string, check: string, encoding: Encoding) {
    const event = agentEvent(agent, check, MARKED, MARKED_ID);
    const isJson = encoding === 'json';
    const payload = isJson ? Buffer.from(JSON.stringify(event)) : encodeEvent(parseEvent(event));
    this.bytes = Buffer.concat([Buffer.from(`event ${FIRST_NUMBER}\n`), payload]);
    this.#encoding = encoding;
    const place = (text: string, bytes: Buffer): number => placeOf(isJson ? Buffer.from(text) : bytes, this.bytes);
    this.#statusAt = isJson
      ? placeOf(Buffer.from(`"status":${MARKED.status}`), this.bytes) + '"status":'.length
      : placeOf(Buffer.from([...STATUS_TAG, MARKED.status]), this.bytes) + STATUS_TAG.length;
    this.#executedAt = place(String(MARKED.executed), varint(MARKED.executed));
    this.#idAt = place(MARKED_ID, Buffer.from(MARKED_ID.replaceAll('-', ''), 'hex'));
  }

  /** Writes `number` (from `FIRST_NUMBER` on), which also changes the id, `executed` in Unix seconds, and `status`, one digit. */
  patch(number: number, status: number, executed: number): void {
    this.bytes.write(String(number), NUMBER_AT, NUMBER_DIGITS, 'latin1');
    if (this.#encoding === 'json') {
      this.bytes[this.#statusAt] = 0x30 + status;
      this.bytes.write(String(executed), this.#executedAt, NUMBER_DIGITS, 'latin1');
      // Decimal digits are valid hexadecimal digits.
      this.bytes.write(String(number), this.#idAt + MARKED_ID.length - NUMBER_DIGITS, NUMBER_DIGITS, 'latin1');
    } else {
      this.bytes[this.#statusAt] = status;
      writeVarint(this.bytes, this.#executedAt, executed);
      this.bytes.writeUInt32BE(number, this.#idAt + 12);
    }
  }
}
