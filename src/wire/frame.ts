const LINE_FEED = 0x0a;

/** No valid type is longer. */
const MAX_TYPE_BYTES = 256;

export interface Frame {
  type: string;
  payload: Buffer;
}

/** A message that is not `<type> LF <payload>`. The connection is closed with 1002. */
export class ProtocolError extends Error {}

/**
 * Splits a message at the first line feed, without trimming.
 * @throws ProtocolError if there is no line feed or the type is too long
 */
export function decodeFrame(message: Buffer): Frame {
  const end = message.indexOf(LINE_FEED);
  if (end < 0) throw new ProtocolError('message has no line feed after its type');
  if (end > MAX_TYPE_BYTES) throw new ProtocolError(`message type is longer than ${MAX_TYPE_BYTES} bytes`);
  return { type: message.toString('latin1', 0, end), payload: message.subarray(end + 1) };
}

export function encodeFrame(type: string, payload: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${type}\n`), typeof payload === 'string' ? Buffer.from(payload) : payload]);
}

/**
 * The type of the message with which an agent announces that it stops. Its payload is empty. Agents send it only where the handshake
 * agreed on acknowledgements (docs/decisions/0029-announced-stop.md).
 */
export const STOP_TYPE = 'agent_stop';

const KEEPALIVE_HEAD = Buffer.from('keepalive\n');

/** Whether a message is a keepalive. */
export const isKeepalive = (message: Buffer): boolean =>
  message.subarray(0, KEEPALIVE_HEAD.length).equals(KEEPALIVE_HEAD);

const NUMBERED = 'event ';
const MAX_DIGITS = 16;

/** The number in `event <n>` (spec/01 3.6), without leading zeros; undefined for a plain `event`, null for another type. */
export function eventNumberOf(type: string): number | undefined | null {
  if (type === 'event') return undefined;
  const digits = type.length - NUMBERED.length;
  if (digits < 1 || digits > MAX_DIGITS || !type.startsWith(NUMBERED)) return null;
  let number = 0;
  for (let index = NUMBERED.length; index < type.length; index += 1) {
    const digit = type.charCodeAt(index) - 0x30;
    if (digit < 0 || digit > 9 || (digit === 0 && number === 0)) return null;
    number = number * 10 + digit;
  }
  return Number.isSafeInteger(number) ? number : null;
}
