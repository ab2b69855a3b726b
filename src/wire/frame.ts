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

const KEEPALIVE_HEAD = Buffer.from('keepalive\n');

/** Whether a message is a keepalive. */
export const isKeepalive = (message: Buffer): boolean =>
  message.subarray(0, KEEPALIVE_HEAD.length).equals(KEEPALIVE_HEAD);

/** The number in `event <n>` (spec/01 3.6); undefined for a plain `event`, null for another type. */
export function eventNumberOf(type: string): number | undefined | null {
  if (type === 'event') return undefined;
  const match = /^event ([1-9]\d{0,15})$/.exec(type);
  return match === null ? null : Number(match[1]);
}
