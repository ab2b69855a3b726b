import { createHmac } from 'node:crypto';

/** What is done to a token; `sign` absent keeps its signature. */
export interface Forgery {
  /** Laid over the members of its header. */
  header?: Record<string, unknown>;
  /** The same of its claims. */
  claims?: Record<string, unknown>;
  /** `none` leaves the signature empty, `cut` away; `flip` changes its first character; `hs256:KEY` (384, 512) signs anew. */
  sign?: string;
}

/** `token` as somebody changed it who may not know our secret. */
export function forgedToken(token: string, { header, claims, sign }: Forgery): string {
  const [sentHeader = '', sentClaims = '', signature = ''] = token.split('.');
  const signed = `${laidOver(sentHeader, header)}.${laidOver(sentClaims, claims)}`;
  if (sign === undefined) return `${signed}.${signature}`;
  if (sign === 'none') return `${signed}.`;
  if (sign === 'cut') return signed;
  if (sign === 'flip') return `${signed}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  const [, bits, key] = /^hs(256|384|512):(.*)$/.exec(sign) ?? [];
  if (bits === undefined || key === undefined) throw new Error(`unknown way to sign: ${sign}`);
  return `${signed}.${createHmac(`sha${bits}`, key).update(signed).digest('base64url')}`;
}

function laidOver(part: string, members: Record<string, unknown> | undefined): string {
  if (members === undefined) return part;
  const sent = JSON.parse(Buffer.from(part, 'base64url').toString()) as object;
  return Buffer.from(JSON.stringify({ ...sent, ...members })).toString('base64url');
}
