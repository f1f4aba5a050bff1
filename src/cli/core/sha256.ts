import { createHash } from 'node:crypto';

/** Above it, loading `node:crypto` (5 ms, a sixth of a bare start) costs less than doing without. */
const SHORT_BYTES = 16 * 1024;

/** SHA-256 of a text, in hexadecimal. */
export function sha256(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length > SHORT_BYTES ? createHash('sha256').update(bytes).digest('hex') : shortDigest(bytes);
}

/** A version 4 UUID that nothing else has; unique, but not a secret. */
export function uniqueId(): string {
  const chance = [Math.random(), Math.random(), process.hrtime.bigint(), process.pid, Date.now()];
  const hex = sha256(chance.join(' '));
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

// FIPS 180-4, with its names for functions and words.
const PRIMES = firstPrimes(64);
const K = Int32Array.from(PRIMES, prime => fraction(Math.cbrt(prime)));
const INITIAL = Int32Array.from(PRIMES.slice(0, 8), prime => fraction(Math.sqrt(prime)));

function shortDigest(bytes: Uint8Array): string {
  const state = INITIAL.slice();
  const message = padded(bytes);
  for (let block = 0; block < message.byteLength; block += 64) compress(state, schedule(message, block));
  return Array.from(state, word => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The first 32 bits after the point. */
function fraction(number: number): number {
  return ((number % 1) * 2 ** 32) | 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    let divisor = 0;
    while (divisor < primes.length && candidate % at(primes, divisor) !== 0) divisor += 1;
    if (divisor === primes.length) primes.push(candidate);
  }
  return primes;
}

function padded(bytes: Uint8Array): DataView {
  const message = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64));
  new Uint8Array(message.buffer).set(bytes);
  message.setUint8(bytes.length, 0x80);
  message.setUint32(message.byteLength - 4, bytes.length * 8);
  return message;
}

function schedule(message: DataView, block: number): Int32Array {
  const w = new Int32Array(64);
  for (let t = 0; t < 16; t += 1) w[t] = message.getInt32(block + t * 4);
  for (let t = 16; t < 64; t += 1) {
    const early = at(w, t - 15);
    const late = at(w, t - 2);
    const sigma0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const sigma1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    w[t] = at(w, t - 16) + sigma0 + at(w, t - 7) + sigma1;
  }
  return w;
}

function compress(state: Int32Array, w: Int32Array): void {
  // Eight variables, moved one by one: swapping them by a pattern takes longer than all the rest.
  let [a, b, c, d] = [at(state, 0), at(state, 1), at(state, 2), at(state, 3)];
  let [e, f, g, h] = [at(state, 4), at(state, 5), at(state, 6), at(state, 7)];
  for (let t = 0; t < 64; t += 1) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + sum1 + ((e & f) ^ (~e & g)) + at(K, t) + at(w, t)) | 0;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  const words = [a, b, c, d, e, f, g, h];
  for (let index = 0; index < 8; index += 1) state[index] = at(state, index) + at(words, index);
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function at(words: ArrayLike<number>, index: number): number {
  return words[index] ?? 0;
}
