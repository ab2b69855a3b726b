import { createHmac } from 'node:crypto';

/** How a token is changed. Without `sign` it keeps its signature. */
export interface Forgery {
  /** Members that replace those of the header. */
  header?: Record<string, unknown>;
  /** Members that replace those of the claims. */
  claims?: Record<string, unknown>;
  /** `none` empties the signature, `cut` removes it, `flip` changes its first character, `hs256:KEY` (384, 512) signs again. */
  sign?: string;
}

/** Returns `token` with these changes. */
export function forgedToken(token: string, { header, claims, sign }: Forgery): string {
  const [sentHeader = '', sentClaims = '', signature = ''] = token.split('.');
  const signed = `${withMembers(sentHeader, header)}.${withMembers(sentClaims, claims)}`;
  if (sign === undefined) return `${signed}.${signature}`;
  if (sign === 'none') return `${signed}.`;
  if (sign === 'cut') return signed;
  if (sign === 'flip') return `${signed}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  const [, bits, key] = /^hs(256|384|512):(.*)$/.exec(sign) ?? [];
  if (bits === undefined || key === undefined) throw new Error(`unknown way to sign: ${sign}`);
  return `${signed}.${createHmac(`sha${bits}`, key).update(signed).digest('base64url')}`;
}

function withMembers(part: string, members: Record<string, unknown> | undefined): string {
  if (members === undefined) return part;
  const sent = JSON.parse(Buffer.from(part, 'base64url').toString()) as object;
  return Buffer.from(JSON.stringify({ ...sent, ...members })).toString('base64url');
}
