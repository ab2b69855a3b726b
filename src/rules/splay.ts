import type { ByteDigest } from '../ports/digest.ts';

const NS_PER_MS = 1_000_000n;
const MASK_64 = (1n << 64n) - 1n;

/**
 * Returns the nanoseconds from `nowNs` (Unix) to the first tick of an interval schedule: the name's MD5, read as an unsigned 64-bit
 * little-endian number, minus now, modulo the interval. The subtraction wraps at 2^64 before the modulo.
 */
export function splayOffsetNs(md5: ByteDigest, name: string, intervalS: number, nowNs: bigint): bigint {
  const digest = md5(name);
  let splay = 0n;
  for (let index = 7; index >= 0; index -= 1) splay = (splay << 8n) | BigInt(digest[index] ?? 0);
  return ((splay - nowNs) & MASK_64) % (BigInt(intervalS) * 1_000_000_000n);
}

/** Returns the first tick in Unix milliseconds, rounded up. */
export function firstTickAtMs(md5: ByteDigest, name: string, intervalS: number, nowMs: number): number {
  const nowNs = BigInt(nowMs) * NS_PER_MS;
  const tickNs = nowNs + splayOffsetNs(md5, name, intervalS, nowNs);
  return Number((tickNs + NS_PER_MS - 1n) / NS_PER_MS);
}
