import { decodeHuffman } from "../../../src/grpc/hpack/huffman";

/** RFC 7541, section 5.1, for any number: also those that nobody should send. */
export function hpackInteger(pattern: number, prefixBits: number, value: number): Buffer {
  const most = 2 ** prefixBits - 1;
  if (value < most) return Buffer.of(pattern | value);
  const bytes = [pattern | most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** The code is canonical: what each number stands for, as our decoder reads it, is all there is to know. */
const HUFFMAN_CODES: ReadonlyMap<string, string> = (() => {
  const codes = new Map<string, string>();
  let code = 0;
  for (let bits = 5; bits <= 30; bits++, code *= 2) {
    for (; codes.size < 256; code++) {
      const text = code.toString(2).padStart(bits, "0");
      const symbol = symbolOf(text);
      if (symbol === undefined) break;
      codes.set(symbol, text);
    }
  }
  return codes;
})();

/** Eight codes fill whole bytes, so that nothing is read into padding. */
function symbolOf(code: string): string | undefined {
  try {
    const text = decodeHuffman(packed(code.repeat(8)));
    return text.length === 8 ? text[0] : undefined;
  } catch {
    return undefined;
  }
}

/** Bits as a string, filled up with ones to whole bytes as RFC 7541, section 5.2, has it. */
export function packed(bits: string): Buffer {
  const filled = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1");
  return Buffer.from(Array.from(filled.matchAll(/.{8}/g), ([byte]) => Number.parseInt(byte, 2)));
}

/** A string (section 5.2) of Latin-1 characters. */
export function hpackString(text: string, huffman: boolean): Buffer {
  const bytes = huffman
    ? packed(Array.from(text, (one) => HUFFMAN_CODES.get(one) ?? "").join(""))
    : Buffer.from(text, "latin1");
  return Buffer.concat([hpackInteger(huffman ? 0x80 : 0, 7, bytes.length), bytes]);
}
