import { refuse } from "../http2/protocol-violation";

/**
 * The Huffman code of RFC 7541, appendix B, which is canonical: codes of one length are consecutive numbers in the
 * order of their symbols, and a longer code goes on where the shorter ones stopped. So the symbols of each length,
 * in Latin-1, are the whole code. After the last of them comes the end-of-string code, which nobody may send.
 */
const SYMBOLS_BY_CODE_LENGTH: readonly (readonly [bits: number, symbols: string])[] = [
  [5, "012aceiost"],
  [6, " %-./3456789=A_bdfghlmnpru"],
  [7, ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz"],
  [8, "&*,;XZ"],
  [10, '!"()?'],
  [11, "'+|"],
  [12, "#>"],
  [13, "\x00$@[]~"],
  [14, "^}"],
  [15, "<`{"],
  [19, "\\\xc3\xd0"],
  [20, "\x80\x82\x83\xa2\xb8\xc2\xe0\xe2"],
  [21, "\x99\xa1\xa7\xac\xb0\xb1\xb3\xd1\xd8\xd9\xe3\xe5\xe6"],
  [
    22,
    "\x81\x84\x85\x86\x88\x92\x9a\x9c\xa0\xa3\xa4\xa9\xaa\xad\xb2\xb5\xb9\xba\xbb\xbd\xbe\xc4\xc6\xe4\xe8\xe9",
  ],
  [
    23,
    "\x01\x87\x89\x8a\x8b\x8c\x8d\x8f\x93\x95\x96\x97\x98\x9b\x9d\x9e\xa5\xa6\xa8\xae\xaf\xb4\xb6\xb7\xbc\xbf\xc5\xe7\xef",
  ],
  [24, "\x09\x8e\x90\x91\x94\x9f\xab\xce\xd7\xe1\xec\xed"],
  [25, "\xc7\xcf\xea\xeb"],
  [26, "\xc0\xc1\xc8\xc9\xca\xcd\xd2\xd5\xda\xdb\xee\xf0\xf2\xf3\xff"],
  [27, "\xcb\xcc\xd3\xd4\xd6\xdd\xde\xdf\xf1\xf4\xf5\xf6\xf7\xf8\xfa\xfb\xfc\xfd\xfe"],
  [
    28,
    "\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\xdc\xf9",
  ],
  [30, "\n\r\x16"],
];

const INVALID = "a header string that is not valid Huffman code";

const LONGEST_CODE_BITS = 30;
const ALL_ONES = 2 ** LONGEST_CODE_BITS - 1;
const SHORTEST_CODE_BITS = 5;
const MOST_PADDING_BITS = 7;

/** The codes of one length, as the 30 bits that begin with them: from `first`, and below `end`. */
interface CodesOfLength {
  readonly bits: number;
  readonly symbols: Buffer;
  readonly first: number;
  readonly end: number;
}

const CODES: readonly CodesOfLength[] = (() => {
  let end = 0;
  return SYMBOLS_BY_CODE_LENGTH.map(([bits, symbols]) => {
    const first = end;
    end += symbols.length * 2 ** (LONGEST_CODE_BITS - bits);
    return { bits, symbols: Buffer.from(symbols, "latin1"), first, end };
  });
})();

/**
 * Decodes a Huffman-coded string into Latin-1 text, which is at most 8/5 as long. Throws `PROTOCOL` for the
 * end-of-string code and for an end that is not padded with fewer than eight ones (RFC 7541, section 5.2).
 *
 * The text is gathered as bytes: V8 keeps a string that grows by single characters as a chain of 32 bytes for each.
 */
export function decodeHuffman(bytes: Buffer): string {
  const text = Buffer.allocUnsafe(Math.floor((bytes.length * 8) / SHORTEST_CODE_BITS));
  const end = bytes.length * 8;
  let written = 0;
  for (let at = 0; at < end; ) {
    const next = bitsAt(bytes, at);
    const codes = CODES.find((some) => next < some.end);
    if (codes === undefined || at + codes.bits > end) {
      if (next !== ALL_ONES || end - at > MOST_PADDING_BITS) refuse(INVALID);
      break;
    }
    text[written++] = codes.symbols[(next - codes.first) >>> (LONGEST_CODE_BITS - codes.bits)] as number;
    at += codes.bits;
  }
  return text.toString("latin1", 0, written);
}

/** The 30 bits from the one at `at` on; beyond the end of `bytes` they are ones. */
function bitsAt(bytes: Buffer, at: number): number {
  const from = at >>> 3;
  const skipped = at & 7;
  let four = 0;
  for (let index = from; index < from + 4; index++) four = (four << 8) | (bytes[index] ?? 0xff);
  const fifth = bytes[from + 4] ?? 0xff;
  return ((four << skipped) | (fifth >>> (8 - skipped))) >>> 2;
}
