const LINE_FEED = 0x0a;

/** A type line has no use for more; a longer one is a broken or hostile peer. */
const MAX_TYPE_BYTES = 256;

export interface Frame {
  type: string;
  payload: Buffer;
}

/** A message that is not `<type> LF <payload>`: the connection ends with 1002. */
export class ProtocolError extends Error {}

/** Splits at the first line feed; nothing is trimmed. @throws ProtocolError without one */
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

/** Whether a whole message is a keepalive. */
export const isKeepalive = (message: Buffer): boolean =>
  message.subarray(0, KEEPALIVE_HEAD.length).equals(KEEPALIVE_HEAD);

/** The number in `event <n>` (section 3.6 of the agent wire), undefined for a plain `event`, null for another type. */
export function eventNumberOf(type: string): number | undefined | null {
  if (type === 'event') return undefined;
  const match = /^event ([1-9]\d{0,15})$/.exec(type);
  return match === null ? null : Number(match[1]);
}
