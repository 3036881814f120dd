import { refuse } from "../http2/protocol-violation";

/**
 * The Huffman code of RFC 7541, appendix B, which is canonical: codes of one length are consecutive numbers in the
 * order of their symbols, and a longer code goes on where the shorter ones stopped. So the symbols of each length,
 * in Latin-1, are the whole code. After the last of them comes the end-of-string code, which HPACK forbids to send.
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

const SHORTEST_CODE_BITS = 5;
const LONGEST_CODE_BITS = 30;
const MOST_PADDING_BITS = 7;
const NOWHERE = -1;
/** Symbols and none of them: an entry of a row is the next node times this, and one more than the symbol's number. */
const SYMBOLS = 512;

/**
 * The code's tree, made when first needed. Where a 0 and a 1 lead from node n stands at 2n and 2n + 1: a node; or a symbol,
 * as -1 to -256; or 0, nowhere. The first nodes are those to which ones alone lead: so a text may end at 0 to 7.
 */
const TREE: number[] = [];

function growTree(): void {
  for (let node = 0; node < LONGEST_CODE_BITS; node++) TREE.push(0, node + 1);
  TREE[2 * LONGEST_CODE_BITS - 1] = 0;
  let code = 0;
  let length = 0;
  for (const [bits, symbols] of SYMBOLS_BY_CODE_LENGTH) {
    code <<= bits - length;
    length = bits;
    for (let index = 0; index < symbols.length; index++, code++) {
      let branch = code >>> (bits - 1);
      for (let bit = bits - 2; bit >= 0; bit--) {
        TREE[branch] ||= TREE.push(0, 0) / 2 - 1;
        branch = 2 * (TREE[branch] as number) + ((code >>> bit) & 1);
      }
      TREE[branch] = -1 - symbols.charCodeAt(index);
    }
  }
}

/** For each node that was reached and each four bits there: where they lead, with the symbol that they end, or NOWHERE. */
const ROWS: Int32Array[] = [];

function rowOf(node: number): Int32Array {
  if (TREE.length === 0) growTree();
  const row = new Int32Array(16).fill(NOWHERE);
  for (let bits = 0; bits < row.length; bits++) {
    let at = node;
    let symbol = 0; // One at most: no code has less than five bits.
    for (let bit = 3; bit >= 0 && at !== NOWHERE; bit--) {
      const next = TREE[2 * at + ((bits >>> bit) & 1)] as number;
      if (next < 0) symbol = -next;
      at = next === 0 ? NOWHERE : Math.max(next, 0);
    }
    if (at !== NOWHERE) row[bits] = at * SYMBOLS + symbol;
  }
  ROWS[node] = row;
  return row;
}

/**
 * Decodes a Huffman-coded string into Latin-1 text, which is at most 8/5 as long. Throws `PROTOCOL` for the
 * end-of-string code and for an end that is not padded with fewer than eight ones (RFC 7541, section 5.2).
 *
 * Four bits at a time: this process runs without V8's optimiser, and any client may send code. The text is gathered as
 * bytes: V8 keeps a string that grows by single characters as a chain of 32 bytes for each.
 */
export function decodeHuffman(bytes: Buffer): string {
  const text = Buffer.allocUnsafe(Math.floor((bytes.length * 8) / SHORTEST_CODE_BITS));
  let written = 0;
  let node = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    const first = (ROWS[node] ?? rowOf(node))[byte >>> 4] as number;
    if (first < 0) refuse(INVALID);
    if (first % SYMBOLS) text[written++] = (first % SYMBOLS) - 1;
    node = first >>> 9;
    const second = (ROWS[node] ?? rowOf(node))[byte & 15] as number;
    if (second < 0) refuse(INVALID);
    if (second % SYMBOLS) text[written++] = (second % SYMBOLS) - 1;
    node = second >>> 9;
  }
  if (node > MOST_PADDING_BITS) refuse(INVALID);
  return text.toString("latin1", 0, written);
}
