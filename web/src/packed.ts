// Matrices of probes, unpacked: three base64 digits per number, the top 18 bits of its float32 (see Packed in data.ts).
import type { Packed } from './data';

const kDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const kValue = new Uint8Array(128);
for (let i = 0; i < 64; ++i) kValue[kDigits.charCodeAt(i)] = i;

const kBits = new Uint32Array(1);
const kFloat = new Float32Array(kBits.buffer);

/** NaN where nothing was measured. */
export function unpack(text: Packed | undefined): Float32Array {
  if (!text) return new Float32Array(0);
  const out = new Float32Array(Math.floor(text.length / 3));
  for (let i = 0; i < out.length; ++i) {
    const code =
      (kValue[text.charCodeAt(3 * i) & 127] << 12) |
      (kValue[text.charCodeAt(3 * i + 1) & 127] << 6) |
      kValue[text.charCodeAt(3 * i + 2) & 127];
    kBits[0] = code << 14;
    out[i] = Number.isFinite(kFloat[0]) ? kFloat[0] : NaN;
  }
  return out;
}
