/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. Source: FIPS 180-4. */
const K = new Uint32Array(64);
/** The same of the square roots of the first eight. */
const H = new Uint32Array(8);

const isPrime = (value: number): boolean => {
  for (let factor = 2; factor * factor <= value; factor += 1) if (value % factor === 0) return false;
  return true;
};

for (let candidate = 2, found = 0; found < 64; candidate += 1) {
  if (!isPrime(candidate)) continue;
  K[found] = (candidate ** (1 / 3) % 1) * 2 ** 32;
  if (found < 8) H[found] = (candidate ** 0.5 % 1) * 2 ** 32;
  found += 1;
}

const turn = (value: number, bits: number): number => (value >>> bits) | (value << (32 - bits));

/** SHA-256 of a text in UTF-8, as hexadecimal digits. Browsers offer theirs only to pages with TLS. */
export function sha256(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const state = H.slice();
  const words = new Uint32Array(64);
  for (let start = 0; start < padded.length; start += 64) {
    for (let index = 0; index < 16; index += 1) words[index] = view.getUint32(start + index * 4);
    compress(state, words);
  }
  return [...state].map((word) => word.toString(16).padStart(8, '0')).join('');
}

function compress(state: Uint32Array, words: Uint32Array): void {
  const word = (index: number): number => words[index] ?? 0;
  for (let index = 16; index < 64; index += 1) {
    const [early, late] = [word(index - 15), word(index - 2)];
    const one = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const other = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    words[index] = word(index - 16) + one + word(index - 7) + other;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let index = 0; index < 64; index += 1) {
    const first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + (K[index] ?? 0) + word(index);
    const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] ?? 0) + value;
}
