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

/**
 * Decodes a Huffman-coded string into Latin-1 text, which is at most 8/5 as long. Throws `PROTOCOL` for the
 * end-of-string code and for an end that is not padded with fewer than eight ones (RFC 7541, section 5.2).
 */
export function decodeHuffman(bytes: Buffer): string {
  let text = "";
  let row = 0;
  let length = 0;
  let code = 0;
  let firstOfRow = 0;
  for (const byte of bytes) {
    for (let shift = 7; shift >= 0; shift--) {
      const [bits, symbols] = SYMBOLS_BY_CODE_LENGTH[row] ?? refuse(INVALID);
      length += 1;
      code = (code << 1) | ((byte >> shift) & 1);
      firstOfRow <<= 1;
      if (length < bits) continue;
      const symbol = symbols[code - firstOfRow];
      if (symbol === undefined) {
        firstOfRow += symbols.length;
        row += 1;
      } else {
        text += symbol;
        row = length = code = firstOfRow = 0;
      }
    }
  }
  const padding = (1 << length) - 1;
  if (length > 7 || code !== padding) refuse(INVALID);
  return text;
}
